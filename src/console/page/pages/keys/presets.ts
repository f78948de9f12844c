/** Usual purposes of keys, each with no more abilities than it needs. */
import type { ApiKey } from '../../api.generated.ts';
import { type Ability, abilitiesOf } from './abilities.ts';

interface Preset {
  label: string;
  says: string;
  can: readonly Ability[];
  /** Every visitor of the page that it stands in can read it. */
  is_restricted: boolean;
}

export const PRESETS = {
  server: {
    label: 'A server of yours',
    says: 'Files, mail and templates, from anywhere: nobody else sees the key.',
    can: ['read', 'write', 'email', 'email_template'],
    is_restricted: false,
  },
  marketing: {
    label: 'Marketing, from a server',
    says: 'Lists, contacts, imports, sequences and broadcasts, from anywhere.',
    can: ['marketing'],
    is_restricted: false,
  },
  page: {
    label: 'A web page or an app',
    says: 'Adds files and checks captchas, from your origins only: visitors can read it.',
    can: ['upload', 'captcha'],
    is_restricted: true,
  },
  form: {
    label: 'A sign-up form',
    says: 'Signs visitors up for lists and does nothing else, from your origins only.',
    can: ['marketing'],
    is_restricted: true,
  },
  other: { label: 'Something else', says: 'What it may do is ticked below.', can: [], is_restricted: false },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

/** The purpose that a key's abilities suggest. */
export function presetOf(key: ApiKey): PresetName {
  const abilities = abilitiesOf(key).toSorted().join();
  const fits = Object.entries<Preset>(PRESETS).find(
    ([, { can, is_restricted }]) =>
      is_restricted === key.restricted && can.toSorted().join() === abilities && abilities !== '',
  );
  return (fits?.[0] ?? 'other') as PresetName;
}
