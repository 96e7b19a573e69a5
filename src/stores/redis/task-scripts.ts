// What Redis does with tasks in one step each. The times of leases are those of Redis, so that clocks of processes may differ.
// Every script gets the time as its first argument: that of a test, or -1.

import type { RedisScript } from './script.ts';

const clock = `
  local now = tonumber(ARGV[1])
  if now < 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  local function text(number) return string.format('%.0f', number) end`;

/**
 * KEYS: the task, all tasks, those of its owner, due tasks of its service, unfinished tasks by expiry, ended ones by expiry, counts,
 * dedupe keys, the last number. ARGV: time, id, prefix of tasks, most tasks, most bytes, bytes, owner, dedupe key, expiry, due time,
 * phase, time of the process, end of the lease, fields. Due time and lease are moved to the clock of Redis.
 */
export const createTask: RedisScript = {
  text: `${clock}
  local id, dedupe, expires, due, phase = ARGV[2], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
  if dedupe ~= '' then
    local other = redis.call('HGET', KEYS[8], dedupe)
    local until_ = other and redis.call('HGET', ARGV[3] .. other, 'expires')
    if until_ and (until_ == '' or tonumber(until_) > now) then return {'existing', other} end
  end
  local kept = redis.call('ZCARD', KEYS[2])
  if kept >= tonumber(ARGV[4]) then return {'full', kept .. ' tasks'} end
  local bytes = tonumber(redis.call('HGET', KEYS[7], 'bytes') or '0')
  if bytes > tonumber(ARGV[5]) then return {'full', text(bytes) .. ' bytes'} end
  if redis.call('EXISTS', KEYS[1]) == 1 then return {'exists'} end
  local number = redis.call('INCR', KEYS[9])
  redis.call('HSET', KEYS[1], 'number', number, unpack(ARGV, 14))
  local ahead = now - tonumber(ARGV[12])
  if due ~= '' then
    due = text(tonumber(due) + ahead)
    redis.call('HSET', KEYS[1], 'due', due)
  end
  if ARGV[13] ~= '' then redis.call('HSET', KEYS[1], 'until', text(tonumber(ARGV[13]) + ahead)) end
  redis.call('ZADD', KEYS[2], number, id)
  redis.call('ZADD', KEYS[3], number, id)
  if due ~= '' then redis.call('ZADD', KEYS[4], due, id) end
  if expires ~= '' then redis.call('ZADD', phase == 'ended' and KEYS[6] or KEYS[5], expires, id) end
  redis.call('HINCRBY', KEYS[7], 'bytes', ARGV[6])
  if phase ~= 'ended' then
    redis.call('HINCRBY', KEYS[7], 'active', 1)
    redis.call('HINCRBY', KEYS[7], 'active ' .. ARGV[7], 1)
    if dedupe ~= '' then redis.call('HSET', KEYS[8], dedupe, id) end
  end
  return {'created'}`,
};

/** KEYS: the task. ARGV: time, 1 to leave out an expired one. Returns the time and the fields. */
export const readTask: RedisScript = {
  text: `${clock}
  local fields = redis.call('HGETALL', KEYS[1])
  if ARGV[2] == '1' then
    local expires = redis.call('HGET', KEYS[1], 'expires')
    if expires and expires ~= '' and tonumber(expires) <= now then fields = {} end
  end
  return {text(now), fields}`,
};

/**
 * Reads tasks of a list until they have too many bytes. ARGV: time, prefix of tasks, most bytes, 1 to leave out what may be large (as
 * outlineOf in engine/tasks/outcome-summary.ts), ids. Returns the bytes and the fields of each; an expired or
 * damaged one has none.
 */
export const listTasks: RedisScript = {
  text: `${clock}
  local small = {'state', 'service', 'owner', 'tool', 'phase', 'updated', 'expires', 'version', 'fence', 'attempt', 'dedupeKey',
    'due', 'holder', 'until'}
  local max, isOutline = tonumber(ARGV[3]), ARGV[4] == '1'
  local tasks, bytes = {}, 0
  for at = 5, #ARGV do
    local task = ARGV[2] .. ARGV[at]
    local found = redis.pcall('HMGET', task, 'expires', 'bytes', 'phase', 'state')
    local expires = found[1]
    local fields = {}
    if expires and (expires == '' or (tonumber(expires) or 0) > now) then
      local part
      if isOutline and found[3] ~= 'ended' then part = 'inputs'
      elseif isOutline and not string.find(found[4] or '', '"summary":{', 1, true) then part = 'outcome' end
      bytes = bytes + (isOutline and (part and redis.call('HSTRLEN', task, part) or 0) or tonumber(found[2]) or 0)
      if bytes > max and #tasks > 0 then break end
      if isOutline then
        local names = {unpack(small)}
        table.insert(names, part)
        for n, value in ipairs(redis.call('HMGET', task, unpack(names))) do
          if value then
            table.insert(fields, names[n])
            table.insert(fields, value)
          end
        end
      else
        fields = redis.call('HGETALL', task)
      end
    end
    table.insert(tasks, fields)
  end
  return {text(bytes), tasks}`,
};

/**
 * Changes a task that has the expected version. KEYS: the task, due tasks of its service, unfinished tasks by expiry, ended ones by
 * expiry, counts, dedupe keys. ARGV: time, id, version, owner, dedupe key, expiry, bytes, whether it ends, whether due time and
 * lease change, due time, holder, end of the lease, fields.
 */
export const changeTask: RedisScript = {
  text: `
  local id, owner, dedupe, expires, due = ARGV[2], ARGV[4], ARGV[5], ARGV[6], ARGV[10]
  local version = redis.call('HGET', KEYS[1], 'version')
  if not version then return 'gone' end
  if version ~= ARGV[3] then return 'changed' end
  redis.call('HSET', KEYS[1], unpack(ARGV, 13))
  redis.call('HINCRBY', KEYS[1], 'bytes', ARGV[7])
  redis.call('HINCRBY', KEYS[5], 'bytes', ARGV[7])
  if ARGV[9] == '1' then
    redis.call('HSET', KEYS[1], 'due', due, 'holder', ARGV[11], 'until', ARGV[12])
    if due == '' then redis.call('ZREM', KEYS[2], id) else redis.call('ZADD', KEYS[2], due, id) end
  end
  local byExpiry = KEYS[3]
  if ARGV[8] == '1' then
    redis.call('ZREM', KEYS[3], id)
    byExpiry = KEYS[4]
    redis.call('HINCRBY', KEYS[5], 'active', -1)
    if redis.call('HINCRBY', KEYS[5], 'active ' .. owner, -1) <= 0 then redis.call('HDEL', KEYS[5], 'active ' .. owner) end
    if dedupe ~= '' and redis.call('HGET', KEYS[6], dedupe) == id then redis.call('HDEL', KEYS[6], dedupe) end
  end
  if expires == '' then redis.call('ZREM', byExpiry, id) else redis.call('ZADD', byExpiry, expires, id) end
  return 'ok'`,
};

/**
 * Claims due tasks, as claimRecord in engine/tasks/task-record.ts does. KEYS: due tasks of each service. ARGV: time, holder, lease,
 * how many, prefix of tasks, most bytes.
 */
export const claimTasks: RedisScript = {
  text: `${clock}
  local max = tonumber(ARGV[4])
  local found = {}
  for _, key in ipairs(KEYS) do
    local due = redis.call('ZRANGEBYSCORE', key, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, max)
    for at = 1, #due, 2 do table.insert(found, {tonumber(due[at + 1]), due[at], key}) end
  end
  table.sort(found, function(a, b) if a[1] ~= b[1] then return a[1] < b[1] end return a[2] < b[2] end)
  local claimed, bytes = {}, 0
  local ends = text(now + tonumber(ARGV[3]))
  for at = 1, math.min(#found, max) do
    local id, key = found[at][2], found[at][3]
    local task = ARGV[5] .. id
    local fields = redis.pcall('HMGET', task, 'phase', 'bytes', 'attempt', 'fence', 'version')
    local phase = fields[1]
    -- Deleted, or damaged by another program.
    if not (phase and tonumber(fields[2]) and tonumber(fields[3]) and tonumber(fields[4]) and tonumber(fields[5])) then
      redis.call('ZREM', key, id)
    else
      bytes = bytes + tonumber(fields[2])
      if bytes > tonumber(ARGV[6]) and #claimed > 0 then break end
      if phase ~= 'external' then
        redis.call('HINCRBY', task, 'attempt', 1)
        phase = 'running'
      end
      redis.call('HINCRBY', task, 'fence', 1)
      redis.call('HINCRBY', task, 'version', 1)
      redis.call('HSET', task, 'phase', phase, 'updated', text(now), 'holder', ARGV[2], 'until', ends, 'due', ends)
      redis.call('ZADD', key, ends, id)
      table.insert(claimed, redis.call('HGETALL', task))
    end
  end
  return claimed`,
};

/** Renews leases. ARGV: time, holder, lease, prefix of tasks, prefix of due tasks, ids. Returns those that are still held. */
export const renewTasks: RedisScript = {
  text: `${clock}
  local ends = text(now + tonumber(ARGV[3]))
  local held = {}
  for at = 6, #ARGV do
    local task = ARGV[4] .. ARGV[at]
    local fields = redis.call('HMGET', task, 'holder', 'service')
    if fields[1] == ARGV[2] then
      redis.call('HSET', task, 'until', ends, 'due', ends)
      redis.call('ZADD', ARGV[5] .. fields[2], ends, ARGV[at])
      table.insert(held, ARGV[at])
    end
  end
  return held`,
};

/** Deletes ended tasks that have expired. KEYS: ended tasks by expiry, all tasks, counts. ARGV: time, how many, prefixes. */
export const deleteTasks: RedisScript = {
  text: `${clock}
  local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'LIMIT', 0, tonumber(ARGV[2]))
  for _, id in ipairs(ids) do
    local fields = redis.pcall('HMGET', ARGV[3] .. id, 'owner', 'bytes')
    redis.call('DEL', ARGV[3] .. id)
    redis.call('ZREM', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
    if fields[1] then
      redis.call('ZREM', ARGV[4] .. fields[1], id)
      redis.call('HINCRBY', KEYS[3], 'bytes', -(tonumber(fields[2]) or 0))
    end
  end
  return #ids`,
};

/** Ids of unfinished tasks that have expired. KEYS: unfinished tasks by expiry. ARGV: time, how many. */
export const expiredTasks: RedisScript = {
  text: `${clock}
  return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'LIMIT', 0, tonumber(ARGV[2]))`,
};
