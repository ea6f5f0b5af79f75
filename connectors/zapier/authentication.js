/** What connects a Zap with a Rowgate: its address, and a token, which decides the tenant. */
export const authentication = {
  type: "custom",
  fields: [
    {
      key: "address",
      label: "Address",
      required: true,
      type: "string",
      placeholder: "https://rowgate.example.com",
      helpText: "Where your Rowgate runs. The operator who gave you the token knows it.",
    },
    {
      key: "token",
      label: "Token",
      required: true,
      type: "password",
      helpText: "It begins with `rg_` and belongs to one tenant.",
    },
  ],
  test: async (z) => (await z.request({ url: "token" })).data.token,
  connectionLabel: "{{name}} ({{tenant}})",
};

/** Sends each request to the Rowgate of the connection, with its token. */
export const beforeRequest = [
  (request, _z, bundle) => {
    const { address, token } = bundle.authData;
    if (/^https?:/.test(request.url)) return request;
    return {
      ...request,
      url: `${address.replace(/\/+$/, "")}/integration/${request.url}`,
      headers: {
        ...request.headers,
        Authorization: `Bearer ${token}`,
        Accept: "application/json",
      },
      // A redirect could take the token to another host.
      redirect: "error",
    };
  },
];

/** Turns an error of Rowgate into one that Zapier shows, with the place in the request. */
export const afterResponse = [
  (response, z) => {
    if (response.status < 400) return response;
    // Get Single Record found none: for a search of Zapier that is no error.
    if (response.request.method === "GET" && response.data?.matched === 0) return response;
    const text = response.data?.error ??
      `Rowgate responded with status ${response.status}`;
    const seconds = Number(response.getHeader("retry-after"));
    if ([429, 503].includes(response.status) && seconds > 0) {
      throw new z.errors.ThrottledError(text, seconds);
    }
    if (response.status === 401) throw new z.errors.ExpiredAuthError(text);
    throw new z.errors.Error(text, "rowgate", response.status);
  },
];
