import { expect, test } from 'vitest';
import { mergeMetrics } from './shared-metrics.ts';

test('values of the same series are added, those of others are kept, and each head appears once', () => {
  const one =
    '# HELP a A.\n# TYPE a counter\na{x="1"} 2\na{x="2"} 1\n# HELP mooring_uptime_seconds U.\n# TYPE mooring_uptime_seconds gauge\nmooring_uptime_seconds 5\n';
  const two =
    '# HELP a A.\n# TYPE a counter\na{x="1"} 3\na{x="a b"} 4\n# HELP mooring_uptime_seconds U.\n# TYPE mooring_uptime_seconds gauge\nmooring_uptime_seconds 9\n';
  expect(mergeMetrics([one, two]).split('\n')).toEqual([
    '# HELP a A.',
    '# TYPE a counter',
    'a{x="1"} 5',
    'a{x="2"} 1',
    'a{x="a b"} 4',
    '# HELP mooring_uptime_seconds U.',
    '# TYPE mooring_uptime_seconds gauge',
    'mooring_uptime_seconds 9',
    '# HELP mooring_processes Processes that serve.',
    '# TYPE mooring_processes gauge',
    'mooring_processes 2',
    '',
  ]);
});
