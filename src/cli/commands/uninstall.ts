// mooring uninstall: implemented in install.ts.

export { runUninstall as run } from './install.ts';
