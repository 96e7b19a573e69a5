import { expect, test } from 'vitest';
import { describeTime } from './time.ts';

const moment = new Date('2026-03-29T00:59:59.999Z');

test('the time of a place has its offset, with and without summer time', () => {
  expect(describeTime(moment, 'UTC')).toBe('2026-03-29T00:59:59+00:00');
  expect(describeTime(moment, 'Europe/Warsaw')).toBe('2026-03-29T01:59:59+01:00');
  expect(describeTime(new Date(moment.getTime() + 1), 'Europe/Warsaw')).toBe('2026-03-29T03:00:00+02:00');
  expect(describeTime(moment, 'Asia/Kathmandu')).toBe('2026-03-29T06:44:59+05:45');
  expect(describeTime(moment, 'America/St_Johns')).toBe('2026-03-28T22:29:59-02:30');
});

test('every answer is the same moment, to the second', () => {
  for (const zone of [undefined, '', 'Pacific/Auckland', 'America/New_York', 'Asia/Tokyo']) {
    expect(new Date(describeTime(moment, zone)).getTime()).toBe(Math.floor(moment.getTime() / 1000) * 1000);
  }
});

test('midnight is hour 00, and an unknown place is named', () => {
  expect(describeTime(new Date('2026-01-01T00:00:00Z'), 'UTC')).toBe('2026-01-01T00:00:00+00:00');
  for (const zone of ['Mars/Base', 'GMT+99', '../etc', 'Europe/Warsaw; rm']) {
    expect(() => describeTime(moment, zone)).toThrow(`Unknown time zone ${JSON.stringify(zone)}`);
  }
});
