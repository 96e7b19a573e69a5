// Some tests repeat the same thing many times. `npm test` runs fewer repetitions; MOORING_TEST_FULL=1 runs all of them.

export const isFullRun = process.env['MOORING_TEST_FULL'] === '1';
