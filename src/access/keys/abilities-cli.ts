/** The option `--can` of a key, and how tables show what a key may do. */
import { InvalidArgumentError } from 'commander';
import type { Options } from '../../platform/cli/options.ts';
import type { KeyRecord } from './schemas.ts';

/** The API's permissions by their words in `--can`. */
const ABILITIES = {
  read: { can_read: true },
  write: { can_write: true },
  upload: { permissions: { upload: true } },
  email: { can_send_emails: true },
  email_template: { permissions: { email_template: true } },
  captcha: { permissions: { captcha: true } },
  marketing: { can_manage_email_marketing: true },
} as const;
type Ability = keyof typeof ABILITIES;
export const ABILITY_WORDS = Object.keys(ABILITIES);
export const ABILITY_NAMES = ABILITY_WORDS.join(', ');

/** Commander's parser of `--can`. An unknown word is wrong usage. */
export function readAbilities(value: string, previous: Ability[] | undefined): Ability[] {
  const chosen = value
    .split(',')
    .map((word) => word.trim())
    .map((word) => {
      if (!isAbility(word)) throw new InvalidArgumentError(`It takes any of: ${ABILITY_NAMES}.`);
      return word;
    });
  return [...(previous ?? []), ...chosen];
}

function isAbility(word: string): word is Ability {
  return Object.hasOwn(ABILITIES, word);
}

/** The fields that say what a key may do. */
export function grantsOf(options: Options): Record<string, unknown> {
  let flags: Record<string, unknown> = {};
  let permissions: Record<string, boolean> = {};
  for (const ability of Array.isArray(options.can) ? options.can.filter(isAbility) : []) {
    const granted = ABILITIES[ability];
    if ('permissions' in granted) permissions = { ...permissions, ...granted.permissions };
    else flags = { ...flags, ...granted };
  }
  if (options.delete === false) permissions = { ...permissions, delete: false };
  return { ...flags, permissions };
}

export const NO_ABILITIES = {
  can_read: false,
  can_write: false,
  can_send_emails: false,
  can_manage_email_marketing: false,
};

export function readChangedAbilities(value: string, previous: Ability[] | undefined): Ability[] {
  return value === 'none' ? [] : readAbilities(value, previous);
}

export function abilitiesOf(key: KeyRecord): string[] {
  const flags: [string, boolean][] = [
    ['read', key.can_read],
    ['write', key.can_write],
    ['email', key.can_send_emails],
    ['marketing', key.can_manage_email_marketing],
    ['no-delete', key.can_write && key.permissions.delete === false],
    ...Object.entries(key.permissions).filter(([name]) => name !== 'delete'),
  ];
  return flags.filter(([, is_on]) => is_on).map(([name]) => name);
}
