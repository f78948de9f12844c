/** `satchel client`: prints clients of the API. */
import type { Cli } from '../../platform/cli/cli.ts';
import type { ApiDocument } from './document.ts';
import { printClient } from './service.ts';

export function registerClientCommands<S>(cli: Cli<S>, describeApi: () => Promise<ApiDocument>): void {
  cli
    .noun('client')
    .verb(
      'typescript',
      'print the client for TypeScript: one file without dependencies, for this very version',
    )
    .remark(`It runs in browsers, Node (20 and later) and Bun, and compiles under strict settings. A server has the one of its version
at /docs/satchel.ts. It needs no data directory.`)
    .example('satchel client typescript > satchel.ts')
    .action(
      cli.plainAction(
        async () => {
          const source = printClient(await describeApi());
          return { json: { file: 'satchel.ts', source }, text: source };
        },
        { finds: 'none' },
      ),
    );
}
