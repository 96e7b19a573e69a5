// A message bus of the test's own (dbus-daemon), and a small service on it that speaks the protocol by itself.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  type DbusMessage,
  decodeMessage,
  encodeMessage,
  messageLength,
  type ReadMessage,
} from '../../src/packs/dbus/message.ts';
import type { Variant } from '../../src/packs/dbus/writer.ts';
import { afterwards, makeFolder } from './profile.ts';
import { ensureProgram, findProgram } from './programs.ts';

/** True when a bus can be started here. */
export const haveBus = ensureProgram('dbus-daemon');

export interface PrivateBus {
  readonly address: string;
  readonly path: string;
  stop(): Promise<void>;
}

/** Starts a bus in a folder; gone after the test. */
export async function startBus(folder: string = makeFolder()): Promise<PrivateBus> {
  const path = join(folder, 'bus');
  const config = join(folder, 'bus.conf');
  writeFileSync(
    config,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${path}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>`,
  );
  const daemon = spawn(findProgram('dbus-daemon') as string, [
    `--config-file=${config}`,
    '--nofork',
    '--nopidfile',
    '--print-address',
  ]);
  afterwards(() => stop(daemon));
  const address = await new Promise<string>((resolve, reject) => {
    let said = '';
    daemon.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('\n')) resolve(said.trim());
    });
    daemon.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    daemon.once('exit', () => reject(new Error(`dbus-daemon ended: ${said}`)));
  });
  return { address, path, stop: () => stop(daemon) };
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill();
  });
}

export type Properties = Record<string, Record<string, Variant>>;

/** A service with one object, whose interfaces and properties are given. */
export class TestService {
  readonly name: string;
  readonly #socket: Socket;
  readonly #properties: Properties;
  /** What a hostile service does with a call; false: what other services do. */
  hostile: (call: ReadMessage, reply: (signature: string, body: readonly unknown[]) => void) => boolean = () => false;
  #received = Buffer.alloc(0);
  #serial = 0;
  #waiting = new Map<number, (message: ReadMessage) => void>();
  /** Calls that came, as `interface.member`. */
  readonly calls: string[] = [];

  private constructor(socket: Socket, name: string, properties: Properties) {
    this.name = name;
    this.#socket = socket;
    this.#properties = properties;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => {}); // The bus goes before the service does.
  }

  static async start(path: string, name: string, properties: Properties): Promise<TestService> {
    const socket = connect({ path });
    const identity = Buffer.from(String(process.getuid?.())).toString('hex');
    socket.write(`\0AUTH EXTERNAL ${identity}\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('BEGIN\r\n');
    const service = new TestService(socket, name, properties);
    const bus = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus' };
    await service.#ask({ ...bus, interface: 'org.freedesktop.DBus', member: 'Hello' });
    await service.#ask({ ...bus, interface: 'org.freedesktop.DBus', member: 'RequestName', signature: 'su' }, [
      name,
      0,
    ]);
    afterwards(() => service.stop());
    return service;
  }

  get objectPath(): string {
    return `/${this.name.replaceAll('.', '/')}`;
  }

  /** Changes a property and says so. */
  set(type: string, property: string, value: Variant): void {
    (this.#properties[type] as Record<string, Variant>)[property] = value;
    this.#send(
      {
        ...{ type: 'signal', path: this.objectPath, interface: 'org.freedesktop.DBus.Properties' },
        ...{ member: 'PropertiesChanged', signature: 'sa{sv}as' },
      },
      [type, { [property]: value }, []],
    );
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.closed) return resolve();
      this.#socket.once('close', () => resolve());
      this.#socket.destroy();
    });
  }

  #send(message: Omit<DbusMessage, 'serial'>, body: readonly unknown[] = []): number {
    const serial = ++this.#serial;
    this.#socket.write(encodeMessage({ ...message, serial } as DbusMessage, body));
    return serial;
  }

  #ask(message: Omit<DbusMessage, 'serial' | 'type'>, body: readonly unknown[] = []): Promise<ReadMessage> {
    const serial = this.#send({ ...message, type: 'call' }, body);
    return new Promise((resolve) => this.#waiting.set(serial, resolve));
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (let length = messageLength(this.#received); length !== undefined; length = messageLength(this.#received)) {
      if (this.#received.length < length.total) return;
      const message = decodeMessage(this.#received.subarray(0, length.total));
      this.#received = this.#received.subarray(length.total);
      if (message.type === 'call') this.#answer(message);
      else if (message.replySerial !== undefined) this.#waiting.get(message.replySerial)?.(message);
    }
  }

  #answer(call: ReadMessage): void {
    this.calls.push(`${call.interface}.${call.member}`);
    const reply = { replySerial: call.serial, destination: call.sender as string };
    if (this.hostile(call, (signature, body) => this.#send({ ...reply, type: 'reply', signature }, body))) return;
    if (call.member === 'Introspect') {
      this.#send({ ...reply, type: 'reply', signature: 's' }, [this.#describe(call.path as string)]);
    } else if (call.member === 'GetAll' && call.path === this.objectPath) {
      const properties = this.#properties[call.body[0] as string] ?? {};
      this.#send({ ...reply, type: 'reply', signature: 'a{sv}' }, [properties]);
    } else {
      const errorName = 'org.freedesktop.DBus.Error.UnknownMethod';
      this.#send({ ...reply, type: 'error', errorName, signature: 's' }, ['no such thing']);
    }
  }

  #describe(path: string): string {
    if (path !== this.objectPath) {
      const rest = this.objectPath.slice(path === '/' ? 1 : path.length + 1);
      return `<node><node name="${rest.split('/')[0]}"/></node>`;
    }
    const interfaces = Object.entries(this.#properties).map(
      ([name, properties]) => `  <interface name="${name}">
    <method name="Ping"><arg name="text" type="s" direction="in"/><arg type="s" direction="out"/></method>
    <signal name="Happened"><arg type="u"/></signal>
    ${Object.entries(properties)
      .map(([property, { signature }]) => `<property name="${property}" type="${signature}" access="read"/>`)
      .join('\n    ')}
  </interface>`,
    );
    return `<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
<node name="${path}">
  <interface name="org.freedesktop.DBus.Introspectable"><method name="Introspect"/></interface>
${interfaces.join('\n')}
</node>`;
  }
}
