/** The option `--can` of tokens and people, and how tables show what was given. */
import { InvalidArgumentError } from 'commander';
import { ADMINISTER, CAPABILITIES, type Capability, GRANTABLE } from '../http/callers.ts';

const shortName = (capability: Capability): string => capability.replace(/^can_/, '');
const SHORT_NAMES = CAPABILITIES.map(shortName).join(', ');

/** Every word that `--can` takes. */
export const CAPABILITY_WORDS = ['all', ...GRANTABLE.map(shortName)];

/** What `--can` takes, for its help. */
export const CAN_HELP = `comma-separated: ${SHORT_NAMES}, or all (these six), and administer`;

/** Commander's parser of `--can`; it may be repeated. Wrong usage for a word that it does not know. */
export function readCapabilities(value: string, previous: Capability[] | undefined): Capability[] {
  const words = value.split(',').map((word) => word.trim().replace(/^can_/, ''));
  const chosen = words.flatMap((word) => {
    if (word === 'all') return [...CAPABILITIES];
    const capability = GRANTABLE.find((each) => shortName(each) === word);
    if (!capability) {
      throw new InvalidArgumentError(`It takes ${SHORT_NAMES}, or all, and ${shortName(ADMINISTER)}.`);
    }
    return [capability];
  });
  return [...new Set([...(previous ?? []), ...chosen])];
}

/** A table's cell: `read_only,read_vault`. */
export function presentPowers(holder: Partial<Record<Capability | 'read_only', boolean>>): string {
  return (['read_only', ...GRANTABLE] as const)
    .filter((each) => holder[each])
    .map((each) => each.replace(/^can_/, ''))
    .join(',');
}
