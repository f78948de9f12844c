/** What to do when a row refers to another one that is gone. */
import { notFound } from '../../errors.ts';
import { sqliteErrorOf } from '../host/disk-failures.ts';

/** Whether SQLite refused a row because a row that it refers to is not there. */
export function isOfMissingRow(error: unknown): boolean {
  return sqliteErrorOf(error)?.code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/** For `catch`: AppError `not_found` where a row was deleted since it was looked up, else the error. */
export function explainMissing(noun: string): (error: unknown) => never {
  return (error) => {
    throw isOfMissingRow(error) ? notFound(noun) : error;
  };
}
