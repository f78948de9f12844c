/** Where the database of a data directory is, and whether it is there. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { isInstalled, SERVICE_PATHS } from './installed-service.ts';
import { accountName } from './ownership.ts';

export function databasePathOf(data_dir: string): string {
  return join(data_dir, 'satchel.db');
}

/**
 * Whether the directory holds a database. Throws AppError `invalid` where this user may not look, as a "no"
 * could be untrue.
 */
export function hasDatabase(data_dir: string): boolean {
  try {
    statSync(databasePathOf(data_dir));
    return true;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    const owner = ownerOf(data_dir);
    throw new AppError(
      'invalid',
      `The data directory ${data_dir} can't be looked into: ${messageOf(error)}. ` +
        `Run this as the user whose it is${owner === null ? '' : `: sudo -u ${owner} satchel ...`}`,
      { cause: error },
    );
  }
}

/** Null where a folder above is closed as well, or the account has no name. */
function ownerOf(data_dir: string): string | null {
  try {
    return accountName(statSync(data_dir).uid);
  } catch {
    return null;
  }
}

/** The directory's database. Throws AppError `not_found`, which says where the installed service's is. */
export function requireDatabase(data_dir: string, service = SERVICE_PATHS): string {
  if (hasDatabase(data_dir)) return databasePathOf(data_dir);
  const other =
    service.data_dir !== data_dir && isInstalled(service)
      ? ` The installed service's is ${service.data_dir}: run this with sudo.`
      : '';
  throw new AppError(
    'not_found',
    `There is no database in ${data_dir}. Name the data directory with --data-dir or SATCHEL_DATA_DIR; ` +
      `only satchel serve and satchel restore make one.${other}`,
  );
}
