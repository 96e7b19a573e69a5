// get_current_time: the time of this machine, or of any IANA time zone.

import { UserError } from '../../common/user-error.ts';
import type { Server } from '../../engine/server.ts';

const plain = { type: 'object', properties: {}, required: [] } as const;

const withZone = {
  type: 'object',
  properties: {
    timezone: {
      type: 'string',
      description: 'IANA name of a time zone, such as Europe/Warsaw (default: that of the server)',
      maxLength: 100,
    },
  },
  required: [],
} as const;

export function installTime(server: Server, listsZone: boolean, now: () => Date): void {
  server.tool('get_current_time', {
    description: 'Get the current time',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: listsZone ? withZone : plain,
    run: (args: { readonly timezone?: unknown }) => {
      const { timezone } = args;
      if (timezone !== undefined && typeof timezone !== 'string') throw new UserError('timezone must be a string');
      return describeTime(now(), timezone);
    },
  });
}

/** ISO 8601 with the offset of the zone, readable for programs and people. */
export function describeTime(time: Date, timezone?: string): string {
  const zone = timezone === undefined || timezone === '' ? undefined : timezone;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...(zone === undefined ? {} : { timeZone: zone }),
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
  } catch {
    throw new UserError(`Unknown time zone ${JSON.stringify(zone)}; use an IANA name such as Europe/Warsaw`);
  }
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const offset = (parts['timeZoneName'] ?? 'GMT').slice('GMT'.length) || '+00:00';
  return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}:${parts['second']}${offset}`;
}
