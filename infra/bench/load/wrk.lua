-- The requests of one measurement for wrk, made before it starts: one for each credential, sent in turn.

local requests, turn = {}, 0

function init()
  local headers = {}
  for name, value in os.getenv('LOAD_HEADERS'):gmatch('([^:\n]+): ([^\n]*)\n') do headers[name] = value end
  for credential in io.lines(os.getenv('LOAD_CREDENTIALS')) do
    headers['authorization'] = 'Bearer ' .. credential
    requests[#requests + 1] = wrk.format('POST', nil, headers, os.getenv('LOAD_BODY'))
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

-- wrk waits after each answer when there is a function of this name, in whole milliseconds: the fraction is drawn.
local think = tonumber(os.getenv('LOAD_THINK_MS'))
if think > 0 then
  function delay()
    return math.floor(think + math.random())
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'report {"requests":%d,"durationUs":%d,"failed":%d,"mean":%.1f,"p50":%d,"p90":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency.mean, latency:percentile(50), latency:percentile(90), latency:percentile(99)))
end
