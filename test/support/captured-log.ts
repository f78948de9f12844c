/** A real logger whose lines a test reads: never before they were flushed. */
import type { Clock } from '../../src/platform/host/clock.ts';
import { createLogger, type Logger, type LoggerOptions } from '../../src/platform/host/logger.ts';

export interface CapturedLog {
  logger: Logger;
  /** Everything logged so far. */
  text(): string;
  /** The lines of it that contain this. */
  linesWith(part: string): string[];
}

export function captureLog(clock: Clock, options: Partial<LoggerOptions> = {}): CapturedLog {
  let written = '';
  const write = (lines: string): void => {
    written += lines;
  };
  const logger = createLogger({ level: 'info', format: 'json', clock, write, ...options });
  const text = (): string => {
    logger.flush();
    return written;
  };
  return {
    logger,
    text,
    linesWith: (part) =>
      text()
        .split('\n')
        .filter((line) => line.includes(part)),
  };
}
