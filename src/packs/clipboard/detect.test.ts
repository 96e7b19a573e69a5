import { expect, test } from 'vitest';
import type { ClipboardError } from './backend.ts';
import { type Machine, pickBackend } from './detect.ts';

function around(platform: string, env: Record<string, string>, programs: string[], wsl = false): Machine {
  return {
    platform,
    env,
    find: (program) => (programs.includes(program) ? `/usr/bin/${program}` : undefined),
    isWsl: () => wsl,
  };
}

function errorOf(surroundings: Machine): ClipboardError {
  try {
    pickBackend('auto', surroundings);
  } catch (error) {
    return error as ClipboardError;
  }
  throw new Error('found a clipboard, but there is none');
}

const all = ['xclip', 'xsel', 'wl-copy', 'wl-paste', 'powershell.exe'];
const x11 = { DISPLAY: ':0' };
const wayland = { WAYLAND_DISPLAY: 'wayland-0' };

test('S0-53: each system has its clipboard, and Wayland is preferred to the X11 it emulates', () => {
  const name = (surroundings: Machine): string => pickBackend('auto', surroundings).name;
  expect(name(around('linux', x11, all))).toBe('xclip');
  expect(name(around('linux', x11, ['xsel']))).toBe('xsel');
  expect(name(around('linux', { ...x11, ...wayland }, all))).toBe('wl-clipboard');
  expect(name(around('linux', { ...x11, ...wayland }, ['xclip']))).toBe('xclip');
  expect(name(around('linux', { ...x11, ...wayland }, all, true))).toBe('wsl');
  expect(name(around('linux', x11, ['xclip'], true))).toBe('xclip');
  expect(name(around('freebsd', x11, all))).toBe('xclip');
  expect(name(around('darwin', {}, []))).toBe('pasteboard');
  expect(name(around('win32', {}, all))).toBe('windows');
});

test('S0-54: without a clipboard, the error says why and what to do', () => {
  expect(errorOf(around('linux', {}, all))).toMatchObject({
    reason: 'No display environment available',
    remedy: expect.stringContaining('DISPLAY'),
  });
  expect(errorOf(around('linux', { DISPLAY: '', WAYLAND_DISPLAY: '' }, all)).reason).toContain('No display');
  expect(errorOf(around('linux', x11, []))).toMatchObject({
    reason: 'xclip or xsel is not installed',
    remedy: expect.stringContaining('apt install xclip'),
  });
  expect(errorOf(around('linux', wayland, []))).toMatchObject({
    reason: 'wl-copy is not installed',
    remedy: expect.stringContaining('apt install wl-clipboard'),
  });
  expect(errorOf(around('win32', {}, [])).reason).toContain('powershell.exe');
});
