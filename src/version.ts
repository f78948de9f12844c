/** Which Satchel this is: the product's version, and the deploy marker of health and version endpoints. */
import { version as package_version } from '../package.json';

// scripts/build.ts replaces both names by literals; run from source, they are not defined.
declare const SATCHEL_VERSION: string;
declare const SATCHEL_BACKEND_VERSION: string;

/** The product version, as package.json has it. */
export const VERSION: string = typeof SATCHEL_VERSION === 'undefined' ? package_version : SATCHEL_VERSION;

/**
 * YYYY.MM.DD.N: the UTC day of the commit that was built, and its number on that day. From source it is the
 * epoch with N 0, which no build has.
 */
export const BACKEND_VERSION: string =
  typeof SATCHEL_BACKEND_VERSION === 'undefined' ? '1970.01.01.0' : SATCHEL_BACKEND_VERSION;
