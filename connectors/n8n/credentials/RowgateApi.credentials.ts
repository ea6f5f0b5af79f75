import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from "n8n-workflow";

/** The address of a Rowgate, and a token, which decides the tenant. */
export class RowgateApi implements ICredentialType {
  name = "rowgateApi";

  displayName = "Rowgate API";

  // n8n's rules ask for a page. Rowgate's own documentation is in its repository, on no host.
  documentationUrl = "https://docs.n8n.io/integrations/community-nodes/using-community-nodes";

  icon = {
    light: "file:../icons/rowgate.svg",
    dark: "file:../icons/rowgate.dark.svg",
  } as const;

  properties: INodeProperties[] = [
    {
      displayName: "Address",
      name: "baseUrl",
      type: "string",
      default: "",
      required: true,
      placeholder: "https://rowgate.example.com",
      description: "Where your Rowgate runs. The operator who gave you the token knows it.",
    },
    {
      displayName: "Token",
      name: "token",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
      placeholder: "rg_…",
      description: "It belongs to one tenant: you see the records of that tenant and no others",
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: {
      headers: { Authorization: "=Bearer {{$credentials.token}}" },
    },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}',
      url: "/integration/token",
    },
  };
}
