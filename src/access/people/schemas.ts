/** Shapes of people and of what they sign in with, for the API and the command line alike. */
import { MAX_NAME_CHARS } from '../../limits.ts';
import { capabilityFields, powerFields } from '../../platform/http/capabilities.ts';
import { changesOfFields, optional, preset } from '../../platform/http/fields.ts';
import {
  changesOf,
  emailAddress,
  line,
  named,
  nullable,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';
import { abbreviatedProject } from '../projects/service.ts';

/** Decision: a password's length, in code points. */
const MIN_PASSWORD_CHARS = 12;
const MAX_PASSWORD_CHARS = 256;

const moment = () => t.String({ format: 'date-time' });

const person = {
  id: t.Integer(),
  email: t.String(),
  /** The address, where no name was given. */
  name: t.String(),
  ...capabilityFields,
  can_administer: t.Boolean(),
  /** Changes nothing but their own password, second step and sessions; their tokens neither. */
  read_only: t.Boolean(),
  all_projects: t.Boolean(),
  /** Left out where it is all of them. */
  projects: t.Optional(t.Array(abbreviatedProject)),
  /** Whether signing in takes a code too. */
  totp: t.Boolean(),
  /** Whether an account of single sign-on is theirs. */
  sso: t.Boolean(),
  /** How many they may sign in by. */
  passkeys: t.Integer(),
  last_sign_in_at: nullable(moment()),
  is_active: t.Boolean(),
  created_at: moment(),
};

/** How many of their tokens are still good. Only in the answer to deactivating or removing them. */
const tokens = t.Integer();

export const personRecord = named('Person', t.Object({ ...person, tokens: t.Optional(tokens) }));
export type PersonRecord = Static<typeof personRecord>;

/** With the link that sets a password: good once, for 24 hours. */
export type PersonWithLink = PersonRecord & { link: string };

/** In place of the link: whether the mail with it was taken, or what was said instead. */
const personInvited = t.Object({ ...person, sent: t.Boolean(), words: t.Optional(t.String()) });
export type PersonInvited = Static<typeof personInvited>;
export const personMade = named(
  'PersonMade',
  t.Object({
    ...personInvited.properties,
    link: t.Optional(t.String({ description: 'Unless it was to be mailed.' })),
    sent: t.Optional(
      t.Boolean({ description: 'Whether the mail with the link was taken; else `words` says why not.' }),
    ),
  }),
);

const send = t.Optional(t.Boolean({ description: 'Mail the link to them, in place of answering with it.' }));
const name = line({ min: 1, max: MAX_NAME_CHARS });

export const newPerson = named(
  'NewPerson',
  t.Object({
    email: emailAddress(),
    name: t.Optional(name),
    ...optionals(powerFields),
    send,
  }),
);
export type NewPersonInput = Static<typeof newPerson>;

/** Also ends the tokens that they made, and the tokens that were made with those. */
const revoke_tokens = t.Boolean();

/** What may be changed besides what they may do, and where. */
export const CHANGED_FIELDS = {
  email: preset('', emailAddress(), { option: '--email <email>', says: 'another address' }),
  name: optional(null, name, {
    option: '--name <name>',
    says: 'what they are called; empty for their address',
  }),
  read_only: preset(false, powerFields.read_only, {
    option: '--read-only',
    says: 'changes nothing any more, and neither do their tokens',
    unset_option: '--read-write',
    unset: 'changes things again',
  }),
  is_active: preset(true, t.Boolean(), {
    option: '--active',
    says: 'may sign in',
    unset_option: '--inactive',
    unset: 'may not; signed out at once, and their link is void',
  }),
};

export const personChanges = named(
  'PersonChanges',
  changesOf({ ...powerFields, ...changesOfFields(CHANGED_FIELDS).properties, revoke_tokens }),
);
export type PersonChanges = Static<typeof personChanges>;

export const removedPerson = t.Object({
  deleted: t.Literal(true),
  cascade: t.Object({ sessions: t.Integer() }),
  tokens,
});
export type RemovedPerson = Static<typeof removedPerson>;

export const removalBody = t.Object({ revoke_tokens: t.Optional(revoke_tokens) });

export const resetBody = t.Object({ totp: t.Optional(t.Boolean()), send });

const newPassword = () => text({ min: MIN_PASSWORD_CHARS, max: MAX_PASSWORD_CHARS });
/** Whatever was typed as a password. Too long a one is just wrong: the bound is far above real ones. */
const typedPassword = () => text({ max: 4 * MAX_PASSWORD_CHARS });
const typedCode = () => text({ max: 64 });

export const invited = t.Object({ email: nullable(t.String()) });

export const welcomeBody = t.Object({
  password: newPassword(),
  /** Asked of the first person only; others are known already. */
  email: t.Optional(emailAddress()),
  name: t.Optional(name),
});
export type WelcomeInput = Static<typeof welcomeBody>;

export const signInBody = t.Object({
  email: text({ max: 320 }),
  password: typedPassword(),
  code: t.Optional(typedCode()),
});

export const passwordBody = t.Object({ current_password: typedPassword(), password: newPassword() });
export const totpBody = t.Object({ password: typedPassword() });
export const codeBody = t.Object({ code: typedCode() });
export const endTotpBody = t.Object({ password: typedPassword(), code: typedCode() });

export const sessionRecord = named(
  'Session',
  t.Object({
    id: t.String(),
    /** Whether this request came by it. */
    is_current: t.Boolean(),
    ip: nullable(t.String()),
    user_agent: nullable(t.String()),
    created_at: moment(),
    last_seen_at: moment(),
    /** When it ends unless it is used before. */
    expires_at: moment(),
  }),
);
export type SessionRecord = Static<typeof sessionRecord>;

/** The person of a session, with what a page needs besides. */
export const signedIn = named(
  'SignedIn',
  t.Object({ ...person, session_id: t.String(), recovery_codes_left: t.Integer() }),
);

export const passkeyRecord = named(
  'Passkey',
  t.Object({
    id: t.String(),
    name: t.String(),
    /** The only one that it works at. */
    host: t.String(),
    /** Whether a copy is kept elsewhere, as password managers do. */
    backed_up: t.Boolean(),
    created_at: moment(),
    last_used_at: nullable(moment()),
  }),
);
export type PasskeyRecord = Static<typeof passkeyRecord>;

export const passkeyOfferBody = t.Object({ password: t.Optional(typedPassword()) });
/** What the browser answered, as PublicKeyCredential.toJSON gives it. */
const response = t.Unknown({
  description: 'What the browser answered, as PublicKeyCredential.toJSON gives it.',
});
export const newPasskeyBody = t.Object({ name, response });
export const passkeySignInBody = t.Object({ response });
const credential = t.Object({ id: t.String(), type: t.Literal('public-key') });
/** As browsers take it, by PublicKeyCredential.parseCreationOptionsFromJSON. */
export const passkeyCreation = named(
  'PasskeyOptions',
  t.Object({
    challenge: t.String(),
    rp: t.Object({ id: t.String(), name: t.String() }),
    user: t.Object({ id: t.String(), name: t.String(), displayName: t.String() }),
    pubKeyCredParams: t.Array(t.Object({ alg: t.Integer(), type: t.Literal('public-key') })),
    timeout: t.Integer(),
    attestation: t.Literal('none'),
    excludeCredentials: t.Array(credential),
    authenticatorSelection: t.Object({
      residentKey: t.Literal('required'),
      requireResidentKey: t.Boolean(),
      userVerification: t.Literal('required'),
    }),
  }),
);
/** As browsers take it, by PublicKeyCredential.parseRequestOptionsFromJSON. */
export const passkeyRequest = t.Object({
  challenge: t.String(),
  rpId: t.String(),
  timeout: t.Integer(),
  userVerification: t.Literal('required'),
});

/** What the sign-in page offers. */
export const ways = named(
  'SignInWays',
  t.Object({ password: t.Boolean(), passkey: t.Boolean(), sso: nullable(t.Object({ label: t.String() })) }),
);
export type Ways = Static<typeof ways>;

export const newTotp = t.Object({ secret: t.String(), uri: t.String() });
export const recoveryCodes = t.Object({ recovery_codes: t.Array(t.String()) });
