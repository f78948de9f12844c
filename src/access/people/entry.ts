/** People, and how they get in, stay in and leave: the console's services, sharing one hasher. */
import type { Config } from '../../config.ts';
import type { Outside } from '../../platform/http/outside.ts';
import { Invitations, Welcome } from './invitations.ts';
import { OwnAccount } from './own-account.ts';
import { Passkeys } from './passkeys.ts';
import { type Argon2, Passwords } from './passwords.ts';
import { People, type PeopleDeps } from './service.ts';
import { Sessions } from './sessions.ts';
import { SignIn } from './sign-in.ts';
import { SingleSignOn } from './sso.ts';
import { Tries } from './tries.ts';

export interface Entry {
  welcome: Welcome;
  sign_in: SignIn;
  sessions: Sessions;
  own_account: OwnAccount;
  sso: SingleSignOn;
  passkeys: Passkeys;
  passwords: Passwords;
}

export function createPeople(
  on: Omit<PeopleDeps, 'public_url'> &
    Outside & {
      config: Config;
      loadArgon2: (() => Promise<Argon2>) | undefined;
      ownership: { refuseChanges(): void };
    },
): {
  people: People;
  invitations: Invitations;
  entry: Entry;
} {
  const { public_url } = on.config;
  const people = new People({ ...on, public_url });
  const passwords = new Passwords(on.loadArgon2);
  const deps = { ...on, public_url, people, passwords, tries: new Tries(on) };
  const sso = new SingleSignOn(deps);
  const own_account = new OwnAccount(deps);
  const entry = {
    welcome: new Welcome(deps),
    sign_in: new SignIn(deps),
    sessions: new Sessions({ ...deps, sso }),
    own_account,
    sso,
    passkeys: new Passkeys({ ...deps, own_account, sso }),
    passwords,
  };
  const invitations = new Invitations({ ...on, people, public_url });
  return { people, invitations, entry };
}
