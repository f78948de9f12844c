/**
 * Structured logs on stderr: a line for each event, as text or JSON. No secrets: callers log ids and names,
 * and a key that a client put into an address by mistake is cut short.
 */
import { writeSync } from 'node:fs';
import type { LogLevel } from '../../config.ts';
import { hideTokens } from '../secrets/token-format.ts';
import type { Clock } from './clock.ts';

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Writes out what is still buffered. */
  flush(): void;
}

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
const STDERR = 2;

export interface LoggerOptions {
  level: LogLevel;
  format: 'text' | 'json';
  clock: Clock;
  /** Where lines go; tests collect them. */
  write?: (lines: string) => void;
}

/** Lines are buffered until the end of the turn of the event loop, errors are written at once. */
export function createLogger(options: LoggerOptions): Logger {
  const write = options.write ?? writeToStderr;
  let buffer = '';
  const flush = (): void => {
    const lines = buffer;
    buffer = '';
    if (lines !== '') write(hideTokens(lines));
  };
  const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (RANK[level] < RANK[options.level]) return;
    if (buffer === '') setImmediate(flush);
    buffer += `${options.format === 'json' ? jsonLine(level, message, fields, options.clock) : textLine(level, message, fields, options.clock)}\n`;
    if (level === 'error') flush();
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    flush,
  };
}

/** A logger for where nobody listens, such as a command whose messages are its output. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, flush() {} };

function jsonLine(level: LogLevel, message: string, fields: LogFields, clock: Clock): string {
  return JSON.stringify({ time: new Date(clock.now()).toISOString(), level, message, ...fields });
}

function textLine(level: LogLevel, message: string, fields: LogFields, clock: Clock): string {
  const time = new Date(clock.now()).toISOString().slice(11, 23);
  let line = `${time} ${level.toUpperCase().padEnd(5)} ${oneLine(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null)
      line += ` ${name}=${typeof value === 'string' ? quoteIfNeeded(value) : value}`;
  }
  return line;
}

/** A log line is one line, whatever a client put into a path or a relay into its answer. */
function oneLine(value: string): string {
  return /\p{Cc}/u.test(value) ? JSON.stringify(value).slice(1, -1) : value;
}

function quoteIfNeeded(value: string): string {
  return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** A log that can't be written (a full disk, a closed pipe) must not take the server down. */
function writeToStderr(lines: string): void {
  try {
    writeSync(STDERR, lines);
  } catch {
    // There is nowhere left to say it.
  }
}
