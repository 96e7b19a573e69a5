// `mooring serve reference` on a data folder of the bench's own.
process.argv = [
  ...process.argv.slice(0, 1),
  'mooring',
  ...['serve', 'reference', '--data', /** @type {string} */ (process.env['BENCH_DATA'])],
];
await import('../../dist/cli.js');
