// The version of this build, for the command line.

export { version } from '../common/version.ts';
