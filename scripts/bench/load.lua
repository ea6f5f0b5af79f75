-- Sends the requests of a file in turn, and prints one line of JSON with what was measured.
-- A request is a line: method, path, headers and body separated by tabs; U+001F between headers.
local asks, varying, at, number = {}, {}, 0, 0
local MARK = "12345678"

function init(args)
  number = tonumber(args[2])
  for line in io.lines(args[1]) do
    local method, path, list, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
    local headers = {}
    for name, value in list:gmatch("([^:\31]+): ([^\31]*)") do headers[name] = value end
    headers["Host"] = wrk.headers["Host"]
    asks[#asks + 1] = wrk.format(method, path, headers, body ~= "" and body or nil)
    varying[#asks] = body:find(MARK, 1, true) ~= nil
  end
  at = tonumber(args[3]) % #asks
end

function request()
  at = at % #asks + 1
  if not varying[at] then return asks[at] end
  number = number + 1
  return (asks[at]:gsub(MARK, string.format("%d", number)))
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
