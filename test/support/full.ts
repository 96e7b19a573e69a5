// Some tests repeat the same thing many times. `npm test` runs some repetitions; MOORING_TEST_FULL=1 runs all.

export const isFullRun = process.env['MOORING_TEST_FULL'] === '1';
