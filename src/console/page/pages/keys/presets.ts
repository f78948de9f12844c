/** What keys are usually made for, and what such a key gets: no more than it needs. */
import type { Ability } from './abilities.ts';

export interface Preset {
  label: string;
  hint: string;
  can: readonly Ability[];
  is_restricted: boolean;
}

export const PRESETS = {
  server: {
    label: 'A server of yours',
    hint: 'Files, mail and templates, from anywhere: nobody else sees the key.',
    can: ['read', 'write', 'email', 'email_template'],
    is_restricted: false,
  },
  page: {
    label: 'A web page or an app',
    hint: 'Adds files and checks captchas, from the origins below only: every visitor can read the key.',
    can: ['upload', 'captcha'],
    is_restricted: true,
  },
  form: {
    label: 'A sign-up form',
    hint: 'Signs visitors up for lists and does nothing else, from the origins below only.',
    can: ['marketing'],
    is_restricted: true,
  },
  marketing: {
    label: 'Marketing, from a server',
    hint: 'Lists, contacts, imports, sequences and broadcasts, from anywhere.',
    can: ['marketing'],
    is_restricted: false,
  },
} as const satisfies Record<string, Preset>;

export function presetOf(name: string): Preset | null {
  return Object.entries<Preset>(PRESETS).find(([each]) => each === name)?.[1] ?? null;
}
