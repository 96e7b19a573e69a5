// Some tests repeat the same thing many times. `npm test` runs all repetitions; MOORING_TEST_SHORT=1 runs fewer.

export const isFullRun = process.env['MOORING_TEST_SHORT'] !== '1';
