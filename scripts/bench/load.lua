-- Sends the requests of a file in turn, and prints one line of JSON with what was measured.
-- A request is a line: method, path, headers and body separated by tabs; U+001F between headers.
local asks, varying, at, number = {}, {}, 0, 0
local threads, ffi = {}, require("ffi")
ffi.cdef("typedef struct { long s, ns; } moment; int clock_gettime(int, moment *);")
local CLOCK_MONOTONIC = 1
local moment = ffi.new("moment")
local MARK = "12345678"

function setup(thread)
  threads[#threads + 1] = thread
end

local function now()
  ffi.C.clock_gettime(CLOCK_MONOTONIC, moment)
  return tonumber(moment.s) * 1e6 + tonumber(moment.ns) / 1e3
end

-- Response times of a single client, in µs: it sends its next request once it has the last response.
-- wrk's own percentiles count a long one several times, for the requests that could not be sent.
local function timeResponse()
  local before = sent
  sent = now()
  if before then times[#times + 1] = sent - before end
end

function init(args)
  -- These two are global, for `done` to read.
  if args[4] == "1" then times, sent = {}, nil end
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
  if times then timeResponse() end
  at = at % #asks + 1
  if not varying[at] then return asks[at] end
  number = number + 1
  return (asks[at]:gsub(MARK, string.format("%d", number)))
end

function done(summary, latency, requests)
  local times = threads[1]:get("times") or {}
  table.sort(times)
  -- A request may still have waited for its response; that counts if no other took as long.
  local waited = times[1] and now() - threads[1]:get("sent") or 0
  if waited > (times[#times] or 0) then times[#times + 1] = waited end
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"response99":%d,"longest":%d,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    times[math.ceil(#times * 0.99)] or 0, times[#times] or 0,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
