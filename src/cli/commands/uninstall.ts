// mooring uninstall: the other half of install.ts.

export { runUninstall as run } from './install.ts';
