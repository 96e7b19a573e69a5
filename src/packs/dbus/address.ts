// Parses bus addresses such as `unix:path=/run/user/1000/bus;tcp:…`. Only local sockets are used: a bus has no
// encryption and should not cross a network.

/** Paths of the sockets in an address, in order. An abstract socket starts with NUL, as in Node. */
export function socketPaths(address: string): readonly string[] {
  const paths: string[] = [];
  for (const each of address.split(';')) {
    if (!each.startsWith('unix:')) continue;
    for (const pair of each.slice('unix:'.length).split(',')) {
      const equals = pair.indexOf('=');
      const [key, value] = [pair.slice(0, equals), decodeValue(pair.slice(equals + 1))];
      if (value === undefined || value === '') continue;
      if (key === 'path') paths.push(value);
      if (key === 'abstract') paths.push(`\0${value}`);
      if (key === 'runtime' && value === 'yes' && process.env['XDG_RUNTIME_DIR'] !== undefined) {
        paths.push(`${process.env['XDG_RUNTIME_DIR']}/bus`);
      }
    }
  }
  return paths;
}

function decodeValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined; // Invalid percent-encoding: not a usable address.
  }
}

/** The address of a well-known bus, from the environment. */
export function busAddress(bus: 'session' | 'system', env: NodeJS.ProcessEnv = process.env): string {
  if (bus === 'session') return env['DBUS_SESSION_BUS_ADDRESS'] ?? 'unix:runtime=yes';
  return env['DBUS_SYSTEM_BUS_ADDRESS'] ?? 'unix:path=/run/dbus/system_bus_socket';
}
