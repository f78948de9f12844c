/** The hidden verb that a server starts the processes with in which variants are made. */
import { type Cli, UsageError } from '../../platform/cli/cli.ts';
import { makeVariants } from './maker.ts';
import { MAKER_VERB } from './protocol.ts';

export function registerVariantMaker<S>(cli: Cli<S>): void {
  cli.command(MAKER_VERB).action(async () => {
    const made = makeVariants();
    if (made === null) throw new UsageError(`${MAKER_VERB} is for a server to start`);
    await made;
  });
}
