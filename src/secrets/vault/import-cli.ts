/** `satchel vault import`: a .env file into the service `env`, after a look at what it would replace. */
import { AppError } from '../../errors.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { readFileText } from '../../platform/cli/input.ts';
import { collect, listOption, requireYes } from '../../platform/cli/options.ts';
import { formatTable, roomFor } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { counted } from '../../platform/words/phrases.ts';
import { type Services, vaultOf, vaultVerb } from './environment-cli.ts';
import type { EnvImport, ImportedName } from './schemas.ts';
import { PRODUCTION } from './stored-fields.ts';

export function registerImport(cli: Cli<Services>, noun: Noun<Services>): void {
  vaultVerb(noun, 'import <file>', 'store what a .env file holds as variables of the service env')
    .option('--plain <names>', 'which names are no secrets; without it each keeps its kind', collect)
    .option('--yes', 'store it without asking')
    .example(
      'satchel vault import .env --project shop --yes',
      'satchel vault import - --project shop --yes < .env',
    )
    .remark(`It is read as npm's dotenv reads it, quotes and values of several lines included; of a name that stands twice the last
value counts. A line that dotenv would skip, or whose value it would cut at a #, is refused by its number: quotes keep a #, and a
blank before it makes a comment. A new name is a secret, unless --plain says otherwise or, without --plain, it begins with
NEXT_PUBLIC_, VITE_ or EXPO_PUBLIC_. What would be stored, and what that replaces, is shown first; without a yes, given at the
terminal or as --yes, nothing is stored.`)
    .does(async (session, options, file) => {
      const { services, actor } = session;
      const at = vaultOf(session, options);
      const where = `env of ${at.slug}${at.environment === PRODUCTION ? '' : ` (${at.environment})`}`;
      const text = await readFileText(cli, file);
      const plain = options.plain === undefined ? undefined : listOption(options, 'plain');
      const submission = { text, plain, field: '_' };
      const planned = await services.vault.importEnv(actor, at, { ...submission, is_dry: true });
      const { process } = cli.host;
      cli.note(formatTable(planned.names.map(rowOf), '')(roomFor(process.err_columns, process.environment)));
      if (options.yes !== true) {
        const answer = process.ask(`Store ${describe(planned)} in ${where}? [y/N] `);
        if (answer === null) requireYes(options, `stores ${describe(planned)} in ${where}`);
        else if (!/^y(es)?$/i.test(answer)) throw new AppError('invalid', 'Nothing was stored.');
      }
      const done = await services.vault.importEnv(actor, at, { ...submission, is_dry: false });
      return { json: done, text: `Stored ${describe(done)} in ${where}.` };
    });
}

function rowOf({ name, replaces, hides, plain }: ImportedName) {
  return { name, is: replaces ? 'replaces what is stored' : 'new', kind: plain ? 'plain' : 'secret', hides };
}

/** `12 variables (3 of them stored before)` */
function describe({ names }: EnvImport): string {
  const replaced = names.filter(({ replaces }) => replaces).length;
  return `${counted(names.length, 'variable')} (${replaced} of them stored before)`;
}
