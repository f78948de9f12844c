/** `satchel key`: making, listing, rotating, revealing, switching and deleting API keys; and `why`. */

import { type Cli, EXIT, UsageError } from '../../platform/cli/cli.ts';
import { textOption } from '../../platform/cli/options.ts';
import { rowOf } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { secondOfName } from '../../platform/http/record-routes.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { Projects } from '../projects/service.ts';
import {
  ABILITY_NAMES,
  abilitiesOf,
  grantsOf,
  NO_ABILITIES,
  readAbilities,
  readChangedAbilities,
} from './abilities-cli.ts';
import { CHANGED_FIELDS, createKeyBody, FIELDS, type KeyRecord, updateKeyBody } from './schemas.ts';
import type { Keys } from './service.ts';

type Services = { projects: Projects; keys: Keys };

/** Registers `satchel key ...`, and returns the noun, below which the verbs of a key's origins go. */
export function registerKeyCommands<S extends Services>(cli: Cli<S>): Noun<S> {
  const key = cli.noun('key');
  registerCreate(key);
  registerList(key);
  registerChange(key);
  registerSecrets(key);
  registerSwitches(key);
  return key;
}

function registerList(key: Noun<Services>): void {
  key
    .verb('list', 'the keys of a project, newest first')
    .ofProject()
    .example('satchel key list --project shop')
    .lists(
      ({ services, project, page }) => services.keys.list(project, page),
      (one) =>
        rowOf(
          {
            ...one,
            key: `${one.key_prefix}...`,
            restricted: one.restricted ? `to ${one.origins_count} of its own` : 'no',
            can: abilitiesOf(one).join(','),
          },
          'id name key active=is_active test=is_test restricted can',
        ),
      ({ project }) =>
        `There are no keys. Make one with: satchel key create --project ${project.slug} --name NAME --can read`,
    );
}

/** A verb of one key, which is named by its id, the start of its secret, or its name and project. */
function keyVerb(noun: Noun<Services>, name: string, description: string) {
  return noun
    .verb(`${name} <key>`, description)
    .option('--project <project>', 'its project, where <key> is its name rather than its id or prefix')
    .finds(({ keys }, ref, options) => keys.require(ref, textOption(options, 'project')));
}

function registerCreate(key: Noun<Services>): void {
  key
    .verb('create', 'make a key')
    .ofProject()
    .takes(FIELDS, createKeyBody, { more: grantsOf })
    .option('--can <abilities>', `comma-separated: ${ABILITY_NAMES}`, readAbilities)
    .option('--no-delete', 'with --can write: it deletes no files')
    .option('--no-retain', 'keep no copy: it is shown now and can never be revealed')
    .example(
      'satchel key create --project shop --name server --can read,write,email',
      'satchel key create --project shop --name website --can upload,captcha --restricted',
    )
    .does(async ({ services, project, sent, actor, note }, options) => {
      const retain = options.retain !== false;
      const created = await services.keys.create(actor, project, sent, { retain });
      const { id, name } = created;
      if (services.keys.isSecond({ project_id: project.id, name })) note(secondOfName('key', name));
      if (abilitiesOf(created).length === 0)
        note(
          `satchel: warning: this key may do nothing. Give it permissions with: satchel key change ${id} --can read,write`,
        );
      if (created.restricted && !created.allow_no_origin)
        note(
          `It accepts nothing but global origins so far. Next: satchel key origin add ${id} --type domain --value app.example.com`,
        );
      const remark = retain ? '' : ' No copy is kept: this is the only time it is shown.';
      const text = `${created.plaintext_key}\n\nKey ${id} (${name}) of ${project.slug}.${remark}`;
      return { json: created, text };
    });
}

function registerChange(key: Noun<Services>): void {
  keyVerb(key, 'change', 'change what is given of a key; its secret stays')
    .changes(CHANGED_FIELDS, updateKeyBody, {
      more: (options) => {
        if (options.delete === false && options.can === undefined)
          throw new UsageError('--no-delete goes with --can, which says all that the key may do.');
        return Array.isArray(options.can) ? { ...NO_ABILITIES, ...grantsOf(options) } : {};
      },
    })
    .option('--can <abilities>', `these and no others: none, or ${ABILITY_NAMES}`, readChangedAbilities)
    .option('--no-delete', 'with --can write: it deletes no files')
    .example(
      'satchel key change 12 --can read,write --rate-limit 1200',
      'satchel key change web --project shop --restricted',
    )
    .shows(({ services, actor, row, sent }) => services.keys.update(actor, row, sent), present);
}

function present(key: KeyRecord) {
  const { rate_limit_per_minute: rate, email_daily_limit: mails } = key;
  const limits = [
    ...(rate === null ? [] : [`${rate} requests a minute`]),
    ...(mails === null ? [] : [`${mails} mails a day`]),
  ];
  return {
    key: `${key.id} (${key.name}), ${key.key_prefix}...`,
    can: abilitiesOf(key),
    restricted: key.restricted && `to its origins${key.allow_no_origin ? ', and servers' : ''}`,
    limits,
    active: key.is_active,
  };
}

function registerSecrets(key: Noun<Services>): void {
  keyVerb(key, 'rotate', 'give a key a new secret; the old one stops at once')
    .example('satchel key rotate 12')
    .shows(
      ({ services, actor, row }) => services.keys.rotate(actor, row),
      ({ plaintext_key, id, name }) =>
        `${plaintext_key}\n\nKey ${id} (${name}) has a new secret; the old one has stopped.`,
    );
  keyVerb(key, 'reveal', 'show the secret of a key; recorded in the audit trail')
    .example('satchel key reveal 12')
    .shows(
      ({ services, actor, row }) => services.keys.reveal(actor, row),
      ({ plaintext_key }) => plaintext_key,
    );
  keyVerb(key, 'why', 'which rule of a key accepts a request, or why none does')
    .option('--origin <origin>', 'the Origin that the browser sends')
    .option('--app-id <app>', 'the X-App-Id that the app sends')
    .option('--cert <fingerprint>', 'the X-Android-Cert that the app sends')
    .remark(`With neither --origin nor --app-id it tells of a request from a server, which sends neither.
Exit status: 0 when the request is accepted, 1 when it is refused.`)
    .example(
      'satchel key why 12 --origin https://app.example.com',
      'satchel key why 12 --app-id com.example.app --cert DA39A3EE5E6B4B0D3255BFEF95601890AFD80709',
    )
    .does(({ services, row }, options) => {
      const json = services.keys.verdict(row, {
        origin: textOption(options, 'origin') ?? null,
        app_id: textOption(options, 'appId') ?? null,
        cert_fingerprint: textOption(options, 'cert') ?? null,
      });
      if (!json.accepted) return { json, text: `Refused. ${json.why}`, exit: EXIT.refused };
      return { json, text: `Accepted. ${json.why}` };
    });
}

function registerSwitches(key: Noun<Services>): void {
  for (const [name, is_active, what] of [
    ['activate', true, 'accept a key again'],
    ['deactivate', false, 'refuse a key from now on; it can be activated again'],
  ] as const)
    keyVerb(key, name, what)
      .example(`satchel key ${name} 12`)
      .shows(({ services, actor, row }) => services.keys.update(actor, row, { is_active }), present);
  keyVerb(key, 'delete', 'delete a key and its origins')
    .example('satchel key delete 12 --yes')
    .removes(async ({ services, consent, actor, row }) => {
      const { id, name, key_prefix, origins_count } = services.keys.present(row);
      consent(
        `deletes the key ${name} (${id}, ${key_prefix}...) for good, and with it ${counted(origins_count, 'origin')}`,
      );
      const deleted = await services.keys.remove(actor, row);
      return { json: deleted, text: `Key ${id} (${name}) is deleted.` };
    });
}
