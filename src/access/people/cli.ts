/** `satchel person`: who signs in to the console, and what they may do there. */

import type { Config } from '../../config.ts';
import { invalid } from '../../errors.ts';
import { type Cli, type CliContext, type CliResult, UsageError } from '../../platform/cli/cli.ts';
import {
  CAN_HELP,
  collect,
  listOption,
  type Options,
  presentPowers,
  readCapabilities,
  requireScope,
  textOption,
} from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { mayBePrivate } from '../../platform/http/browser.ts';
import { type Capability, GRANTABLE } from '../../platform/http/callers.ts';
import { parse } from '../../platform/http/schema.ts';
import { counted, shellWord } from '../../platform/words/phrases.ts';
import type { Invitations } from './invitations.ts';
import {
  CHANGED_FIELDS,
  newPerson,
  type PersonInvited,
  type PersonRecord,
  type PersonWithLink,
  personChanges,
} from './schemas.ts';
import type { People } from './service.ts';

type Services = { people: People; invitations: Invitations };

/** Registers `satchel person add | list | change | reset | remove`. */
export function registerPersonCommands(cli: Cli<Services>): void {
  const person = cli.noun('person');
  registerAdding(person);
  registerChanging(person);
  registerEnding(person);
  person
    .verb('list', 'everybody, newest first')
    .example('satchel person list')
    .lists(
      ({ services, page }) => services.people.list(page),
      (one) =>
        rowOf(
          {
            ...one,
            status: one.is_active ? 'active' : 'inactive',
            projects: scopeOf(one),
            can: presentPowers(one),
            step: one.totp ? 'on' : 'off',
            sso: one.sso ? 'yes' : 'no',
          },
          'id email status projects can second_step=step sso passkeys last_sign-in=last_sign_in_at name',
        ),
      'There is nobody. Add somebody with: satchel person add EMAIL --all-projects',
    );
}

function registerAdding(person: Noun<Services>): void {
  person
    .verb('add [email]', 'add a person; prints a one-time link that sets their password')
    .option('--name <name>', 'what they are called (default: their address)')
    .option('--can <capabilities>', CAN_HELP, readCapabilities)
    .option('--all-projects', 'for every project, later ones too')
    .option('--project <project>', 'for this project (numeric id, ULID or slug); may be repeated', collect)
    .option('--read-only', 'changes nothing but their own password and second step')
    .option('--send', 'mail the link to them instead of printing it')
    .option('--first', 'while there is nobody: a link that asks for the address too, and gives everything')
    .remark(`Without --can a person manages what is in their projects, but reads no vault and no provider account. With administer,
which goes with --all-projects only, they manage what belongs to no project too: domains, mailboxes, people, backups.
The link is good once, for 24 hours, and void when a newer one is made.`)
    .example(
      'satchel person add ann@example.com --all-projects --can all,administer',
      'satchel person add bob@example.com --name Bob --project shop --can read_vault',
      'satchel person add eve@example.com --all-projects --read-only',
      'satchel person add dan@example.com --project shop --send',
    )
    .does(async ({ services, actor, config, note }, options, email) => {
      if (options.first === true) return addFirst(services.people, { config, note }, options, email);
      if (email === undefined) throw new UsageError('Name the address of the person.');
      const added = await services.invitations.add(
        actor,
        null,
        parse(newPerson, {
          email,
          name: textOption(options, 'name'),
          send: options.send === true,
          read_only: options.readOnly === true,
          ...powersOf(options),
          ...requireScope(options, 'the person'),
        }),
      );
      return presentMade(added, `${added.name} sets a password with it`, { config, note });
    });
}

async function addFirst(
  people: People,
  context: Pick<CliContext, 'config' | 'note'>,
  options: Options,
  email: string | undefined,
): Promise<CliResult> {
  const others = ['name', 'can', 'readOnly', 'allProjects', 'project', 'send'].filter(
    (name) => options[name] !== undefined,
  );
  if (email !== undefined || others.length > 0) {
    throw new UsageError('--first stands alone: the link asks who it is, and they get everything.');
  }
  return presentLink(
    { link: await people.requireFirstLink() },
    'Whoever opens it is the first person',
    context,
  );
}

function registerChanging(person: Noun<Services>): void {
  person
    .verb('change <email>', 'change what is given of a person, named by address or id')
    .changes(CHANGED_FIELDS, personChanges, {
      more: (options) => {
        const { revokeTokens: revoke_tokens } = options;
        if (revoke_tokens && options.inactive !== true)
          throw invalid({ '--revoke-tokens': ['goes with --inactive only'] });
        return { ...powersOf(options, true), revoke_tokens };
      },
    })
    .option('--can <capabilities>', `in place of what they can: ${CAN_HELP}; or none`, readCapabilitiesOrNone)
    .option('--all-projects', 'for every project, later ones too')
    .option('--project <project>', 'for this project in place of all others; may be repeated', collect)
    .option('--revoke-tokens', 'with --inactive: end the tokens that they made, too')
    .remark(`It holds from their next request.`)
    .example(
      'satchel person change bob@example.com --can read_vault,reveal_vault',
      'satchel person change bob@example.com --inactive',
    )
    .shows(async ({ services, sent, actor, note }, _options, ref) => {
      const changed = await services.people.change(actor, null, services.people.require(ref), sent);
      if (changed.tokens) note(explainTokens(changed.tokens));
      return changed;
    }, present);
}

function registerEnding(person: Noun<Services>): void {
  person
    .verb(
      'reset <email>',
      'a new one-time link; the old password and account of single sign-on stop, every session ends, and a lock-out is over',
    )
    .option('--totp', 'turn the second step off as well')
    .option('--send', 'mail the link to them instead of printing it')
    .example('satchel person reset bob@example.com --totp')
    .does(async ({ services, actor, config, note }, options, ref) => {
      const row = services.people.require(ref);
      const asked = { totp: options.totp === true, send: options.send === true };
      const reset = await services.invitations.reset(actor, null, row, asked);
      const what = `${reset.name} is signed out everywhere, and sets a password with it`;
      return presentMade(reset, what, { config, note });
    });
  person
    .verb('remove <email>', 'remove a person')
    .option('--revoke-tokens', 'end the tokens that they made, too')
    .example('satchel person remove bob@example.com --revoke-tokens --yes')
    .removes(async ({ services, consent, actor, note }, options, ref) => {
      const row = services.people.require(ref);
      const sessions = counted(services.people.countSessions(row), 'session');
      const tokens = counted(services.people.countTokens(row), 'token');
      const revoke_tokens = options.revokeTokens === true;
      const end = revoke_tokens
        ? `${sessions} and ${tokens}`
        : `${sessions}; of theirs ${tokens} would stay good`;
      consent(`removes ${row.email} for good and ends ${end}`);
      const removed = await services.people.remove(actor, null, row, { revoke_tokens });
      if (removed.tokens > 0) note(explainTokens(removed.tokens));
      return { json: removed, text: `${row.email} is removed.` };
    });
}

function explainTokens(n: number): string {
  return `Still good: ${counted(n, 'token')} of theirs. To end them: satchel token list, satchel token revoke ID --yes`;
}

/** Of who was mailed the link it is told whether that was taken: the link is shown nowhere. */
function presentMade(
  made: PersonWithLink | PersonInvited,
  what: string,
  context: Pick<CliContext, 'config' | 'note'>,
): CliResult {
  if ('link' in made) return presentLink(made, what, context);
  if (made.sent)
    return { json: made, text: `The link is mailed to ${made.email}. ${what}, once and within 24 hours.` };
  context.note(`The mail to ${made.email} was not taken: ${made.words}`);
  return {
    json: made,
    text: `Without the mail, make a new link: satchel person reset ${shellWord(made.email)}`,
    exit: 1,
  };
}

/** Prints the link, on the first line for scripts, and warns where nobody could use it. */
function presentLink(
  made: { link: string },
  what: string,
  { config, note }: { config: Config; note(message: string): void },
): CliResult {
  if (!mayBePrivate(config)) {
    const of_server = config.served_at === null ? '' : ` of the server at ${config.served_at}`;
    note(
      `Links and sign-in need https, or a loopback address: SATCHEL_PUBLIC_URL${of_server} is ${config.public_url}.`,
    );
  }
  return {
    json: made,
    text: `${made.link}\n\n${what}, once and within 24 hours. This is the only time it is shown.`,
  };
}

function readCapabilitiesOrNone(value: string, previous: Capability[] | undefined): Capability[] {
  return value === 'none' && previous === undefined ? [] : readCapabilities(value, previous);
}

/** The powers that options give. With `in_full` those that --can leaves out are taken away. */
function powersOf(options: Options, in_full = false): Record<string, unknown> {
  const { can } = options;
  const capabilities: unknown[] | null = Array.isArray(can) ? can : null;
  const flags = GRANTABLE.map((each) => [each, capabilities?.includes(each) ?? false] as const);
  const projects = listOption(options, 'project');
  return {
    ...(capabilities ? Object.fromEntries(flags.filter(([, is_held]) => is_held || in_full)) : {}),
    ...(options.allProjects === true ? { all_projects: true } : {}),
    ...(projects.length > 0 ? { projects } : {}),
  };
}

function present(person: PersonRecord) {
  return {
    email: person.email,
    name: person.name,
    projects: scopeOf(person),
    can: presentPowers(person),
    active: person.is_active,
    'second step': person.totp ? 'on' : 'off',
    'single sign-on': person.sso ? 'yes' : 'no',
    passkeys: person.passkeys,
  };
}

function scopeOf({ projects }: PersonRecord): string {
  return projects ? projects.map(({ slug }) => slug).join(',') : 'all';
}
