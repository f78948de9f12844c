/** Which settings a server tells the verbs beside it, and which source of settings wins. */
import { resolve } from 'node:path';
import { type Config, type ConfigFlags, type Environment, loadConfig } from './config.ts';
import { VARIABLES } from './settings.ts';

/** Each is a setting, or a file where _FILE follows the name. */
export const STORE_KEYS = ['SATCHEL_S3_ACCESS_KEY_ID', 'SATCHEL_S3_SECRET_ACCESS_KEY'];
const OIDC_SECRET = 'SATCHEL_OIDC_CLIENT_SECRET';
/** They stay with the server. */
const SECRETS = [
  'SATCHEL_MASTER_KEY',
  'SATCHEL_PASSPHRASE',
  'SATCHEL_WELCOME_TOKEN',
  'SATCHEL_HEARTBEAT_URL',
  OIDC_SECRET,
  ...STORE_KEYS,
];
/** One of these that is given puts those of a lower source out of force. */
const IN_PLACE_OF_EACH_OTHER = [
  ['SATCHEL_MASTER_KEY', 'SATCHEL_MASTER_KEY_FILE', 'SATCHEL_PASSPHRASE'],
  ...[OIDC_SECRET, ...STORE_KEYS].map((name) => [name, `${name}_FILE`]),
];

/** The settings but secrets of a server that was started with these variables and flags. */
export function notedSettings(
  env: Environment,
  flags: ConfigFlags,
  { port, public_url }: Pick<Config, 'port' | 'public_url'>,
): Environment {
  const by_flag = Object.entries(flags).map(([flag, value]) => [`SATCHEL_${flag.toUpperCase()}`, value]);
  const in_force = {
    ...over({}, env),
    ...over({}, Object.fromEntries(by_flag)),
    SATCHEL_PORT: String(port),
    SATCHEL_PUBLIC_URL: public_url,
  };
  const told = Object.entries(in_force).filter(
    ([name, value]) => isSetting(name) && name !== 'SATCHEL_DATA_DIR' && !isSecret(name, value),
  );
  // A verb may run in another folder.
  return Object.fromEntries(
    told.map(([name, value]) => [name, name.endsWith('_FILE') ? resolve(value) : value]),
  );
}

/** The names of the secrets among a server's variables. */
export function keptSecrets(env: Environment): string[] {
  return SECRETS.filter((name) => env[name]?.trim());
}

/** Whether settings of a verb's own are other than those that the server noted; its secrets nobody can compare. */
export function saysOtherwise(own: Environment, noted: Environment): boolean {
  const files = [OIDC_SECRET, ...STORE_KEYS].map((name) => `${name}_FILE`);
  const left_out = ['SATCHEL_DATA_DIR', ...SECRETS, ...files];
  const bare = (env: Environment): Environment =>
    Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) =>
        left_out.includes(name) ? [] : [[name, name.endsWith('_FILE') && value ? resolve(value) : value]],
      ),
    );
  const keys = Object.fromEntries(STORE_KEYS.map((name) => [name, 'any']));
  const inForce = (...sources: Environment[]): string => {
    const all = sources.reduce(over, {});
    const secret = all.SATCHEL_OIDC_ISSUER === undefined ? {} : { [OIDC_SECRET]: 'any' };
    return JSON.stringify(loadConfig({ ...all, ...keys, ...secret }));
  };
  return inForce(bare(noted), bare(own)) !== inForce(bare(noted));
}

/**
 * What counts for a verb: its own settings, then those that the server beside it noted, then the installed
 * service's. A store whose keys the server keeps to itself counts as none, and so does single sign-on.
 */
export function settingsForVerb(own: Environment, noted: Environment, installed: Environment): Environment {
  // The server may be of another version.
  const known = Object.fromEntries(Object.entries(noted).filter(([name]) => isSetting(name)));
  const all = over(over(over({}, installed), known), own);
  const can_enter = STORE_KEYS.every((name) => isKnown(all, name));
  const is_told = own.SATCHEL_OBJECT_STORE?.trim() || installed.SATCHEL_OBJECT_STORE?.trim();
  const of_store = can_enter || is_told ? [] : ['SATCHEL_OBJECT_STORE', 'SATCHEL_OBJECT_REDIRECT'];
  const signs_on = isKnown(all, OIDC_SECRET) || own.SATCHEL_OIDC_ISSUER?.trim();
  const left_out = (name: string): boolean =>
    of_store.includes(name) || (!signs_on && name.startsWith('SATCHEL_OIDC_'));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !left_out(name)));
}

function isKnown(env: Environment, secret: string): boolean {
  return env[secret] !== undefined || env[`${secret}_FILE`] !== undefined;
}

/** Empty variables count as unset. */
function over(lower: Record<string, string>, upper: Environment): Record<string, string> {
  const given = Object.entries(upper).flatMap(([name, value]) =>
    value?.trim() ? [[name, value] as const] : [],
  );
  const ousted = given.flatMap(
    ([name]) => IN_PLACE_OF_EACH_OTHER.find((names) => names.includes(name)) ?? [],
  );
  const kept = Object.entries(lower).filter(([name]) => !ousted.includes(name));
  return Object.fromEntries([...kept, ...given]);
}

function isSetting(name: string): boolean {
  return VARIABLES.includes(name);
}

/** An address may have a password in it. */
function isSecret(name: string, value: string): boolean {
  return SECRETS.includes(name) || (URL.canParse(value) && new URL(value).password !== '');
}
