/** Processes that Satchel starts of itself begin as verbs of tests do. Preloaded (bunfig.toml). */
import { mock } from 'bun:test';
import * as real from '../../src/platform/host/installed-service.ts';
import { satchelCommand } from './executable.ts';

void mock.module('../../src/platform/host/installed-service.ts', () => ({
  ...real,
  ownCommand: (verb: string): string[] => [...satchelCommand(), verb],
}));
