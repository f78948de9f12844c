/** Processes that Satchel starts of itself begin as verbs of tests do. Preloaded (bunfig.toml). */
import { mock } from 'bun:test';
import { satchelCommand } from './executable.ts';

void mock.module('../../src/platform/host/own-executable.ts', () => ({
  ownCommand: (verb: string): string[] => [...satchelCommand(), verb],
}));
