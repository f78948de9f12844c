/** `satchel key origin` and `satchel origin`: origins of one key, and those of every restricted key. */
import { AppError } from '../../errors.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { type Options, textOption } from '../../platform/cli/options.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { paginateAll } from '../../platform/http/pagination.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { Keys } from '../keys/service.ts';
import type { Projects } from '../projects/service.ts';
import { createOriginBody, FIELDS, GLOBAL_FIELDS, newGlobalOrigin, type OriginRecord } from './schemas.ts';
import { type Origins, remarkOnValue } from './service.ts';

type Services = { projects: Projects; keys: Keys; origins: Origins };

const OF_PROJECT = "the key's project, where <key> is its name rather than its id or prefix";

/** Registers `satchel key origin add | list | remove`. */
export function registerKeyOrigins(key: Noun<Services>): void {
  const noun = key.noun('origin', 'where requests with a key may come from');
  noun
    .verb('add <key>', 'allow an origin or app')
    .finds(keyOf)
    .takes(FIELDS, createOriginBody)
    .option('--project <project>', OF_PROJECT)
    .example(
      'satchel key origin add 12 --type domain --value app.example.com',
      "satchel key origin add 12 --type domain --value '*.example.com'    # every subdomain, and example.com itself",
      "satchel key origin add 12 --type domain --value 'http://localhost:*'",
      'satchel key origin add 12 --type domain --value capacitor://localhost    # pages within a hybrid app',
      'satchel key origin add 12 --type android --value com.example.app --sha1 DA39A3EE5E6B4B0D3255BFEF95601890AFD80709',
    )
    .shows(
      ({ services, actor, row, sent }) => services.origins.add(actor, row, sent),
      (origin, { row, note }) => {
        remark(note, origin);
        const still = row.restricted
          ? ''
          : ' The key is not restricted, so it is accepted from anywhere still.';
        return `Origin ${origin.id} (${origin.value}) is allowed for key ${row.id}.${still}`;
      },
    );
  noun
    .verb('list <key>', 'the origins of a key, newest first')
    .option('--project <project>', OF_PROJECT)
    .finds(keyOf)
    .example('satchel key origin list 12')
    .lists(
      ({ services, row, page }) => paginateAll(page, services.origins.list(row)),
      presentOrigin,
      'The key has no origins of its own.',
    );
  noun
    .verb('remove <key> <origin>', 'allow an origin no longer')
    .option('--project <project>', OF_PROJECT)
    .finds(keyOf)
    .example('satchel key origin remove 12 3 --yes')
    .removes(async ({ services, consent, actor, row }, _options, _key, origin_id) => {
      const origin = services.origins.require(row, origin_id);
      const left = services.origins.count(row) - 1;
      consent(
        `removes the origin ${origin.value} of the key ${row.name}, which keeps ${counted(left, 'other', 'others')}`,
      );
      const removed = await services.origins.remove(actor, row, origin);
      return { json: removed, text: `Origin ${origin.id} (${origin.value}) is removed from key ${row.id}.` };
    });
}

const keyOf = ({ keys }: Services, ref: string, options: Options) =>
  keys.require(ref, textOption(options, 'project'));

function remark(note: (message: string) => void, { value }: OriginRecord): void {
  const told = remarkOnValue(value);
  if (told !== null) note(`satchel: ${told}`);
}

function presentOrigin(origin: OriginRecord) {
  const { id, type, value, sha256_fingerprints, sha1_fingerprints } = origin;
  const pins = [...(sha256_fingerprints ?? []), ...(sha1_fingerprints ?? [])];
  return { id, type, value, 'pinned certificates': pins.join(',') };
}

/** Registers `satchel origin add | list | remove`. */
export function registerGlobalOrigins(cli: Cli<Services>): void {
  const noun = cli.noun('origin');
  noun
    .verb('add', 'allow an origin or app for every restricted key')
    .takes(GLOBAL_FIELDS, newGlobalOrigin)
    .example("satchel origin add --type domain --value 'http://localhost:*' --note development")
    .shows(
      ({ services, actor, sent }) => services.origins.addGlobal(actor, sent),
      (origin, { note }) => {
        remark(note, origin);
        return `Global origin ${origin.id} (${origin.value}): every restricted key accepts it from now on.`;
      },
    );
  noun
    .verb('list', 'the global origins, newest first')
    .example('satchel origin list')
    .lists(
      ({ services, page }) => paginateAll(page, services.origins.listGlobal()),
      (origin) => ({ ...presentOrigin(origin), note: origin.note }),
      'There are no global origins.',
    );
  noun
    .verb('remove <id>', 'allow a global origin no longer')
    .example('satchel origin remove 3 --yes')
    .removes(async ({ services, consent, actor }, _options, id) => {
      if (!/^\d{1,15}$/.test(id)) {
        throw new AppError(
          'invalid',
          'A global origin is named by its numeric id; satchel origin list shows it.',
        );
      }
      const named = services.origins.listGlobal().find((one) => one.id === Number(id));
      if (named)
        consent(
          `removes the global origin ${named.value}, which ${counted(services.keys.countRestricted(), 'restricted key')} may rely on`,
        );
      const origin = await services.origins.removeGlobal(actor, Number(id));
      return { json: { deleted: true }, text: `Global origin ${origin.id} (${origin.value}) is removed.` };
    });
}
