// The columns of a table about the start of servers.

/** @param {string} what The label of the time that is measured. @returns {import('./suite.mjs').Suite['columns']} */
export const startColumns = (what) => [
  { label: `${what}, best`, metric: 'ms', pick: 'min', digits: 1 },
  { label: 'above bare', metric: 'ms', pick: 'min', digits: 1, to: 'bare', as: 'above' },
  { label: 'median', metric: 'ms', pick: 'median', digits: 1 },
  { label: 'CPU ms', metric: 'cpuMs', pick: 'min', digits: 1 },
  { label: 'above bare', metric: 'cpuMs', pick: 'min', digits: 1, to: 'bare', as: 'above' },
  { label: 'RSS MB', metric: 'rssMb', pick: 'median', digits: 1 },
];
