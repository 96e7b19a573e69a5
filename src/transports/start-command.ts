// How a program is started. On Windows only the shell can start batch files, such as npx.cmd, and it interprets arguments.

/** A command line for `spawn`; `verbatim`: its arguments are escaped already. */
export interface StartCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly verbatim: boolean;
}

const special = /[()\][%!^"`<>&|;, *?]/g;

/** The scripts that package managers make pass their arguments on, so that they are interpreted twice. */
const passesOn = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i;

/** The command that starts the program at this path. `shell`: that of Windows. */
export function startCommand(
  path: string,
  args: readonly string[],
  platform = process.platform,
  shell = process.env['COMSPEC'] || 'cmd.exe',
): StartCommand {
  if (platform !== 'win32' || !/\.(bat|cmd)$/i.test(path)) return { file: path, args, verbatim: false };
  // The shell would take the rest for another command, or drop it.
  const broken = args.find((arg) => /[\r\n\0]/.test(arg));
  if (broken !== undefined) {
    throw new Error(`An argument of a batch file has a line break: ${JSON.stringify(broken)}`);
  }
  const times = passesOn.test(path) ? 2 : 1;
  const words = [escapeSpecial(path, 1), ...args.map((arg) => escapeSpecial(quote(arg), times))];
  return { file: shell, args: ['/d', '/s', '/c', `"${words.join(' ')}"`], verbatim: true };
}

/** An argument as Windows programs parse it: backslashes count only before a quotation mark. */
function quote(arg: string): string {
  return `"${arg.replace(/(\\*)("|$)/g, (_all, slashes: string, end: string) => `${slashes}${slashes}${end && '\\"'}`)}"`;
}

function escapeSpecial(text: string, times: number): string {
  return times === 0 ? text : escapeSpecial(text.replace(special, '^$&'), times - 1);
}
