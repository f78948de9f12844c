/** The verbs of every capability, in the order in which help lists them. `serve` and `version` are the executable's own. */
import type { Services } from './app.ts';
import { registerAuditCommands } from './audit/cli.ts';
import { registerBackupCommands } from './backups/cli.ts';
import { registerEmailCommands } from './deliveries/cli.ts';
import { registerDoctorCommand } from './doctor/cli.ts';
import type { DoctorDeps } from './doctor/service.ts';
import { registerEmailLogCommand } from './emails/cli.ts';
import { registerJobCommands } from './jobs/cli.ts';
import { registerKeyCommands } from './keys/cli.ts';
import { registerMailboxCommands } from './mailboxes/cli.ts';
import { registerObjectCommands } from './objects/cli.ts';
import { registerOriginCommands } from './origins/cli.ts';
import type { Cli } from './platform/cli/cli.ts';
import { registerCompletionCommand } from './platform/cli/completion.ts';
import { registerMasterKeyCommand, registerMigrateCommand } from './platform/cli/platform-verbs.ts';
import { registerProjectCommands } from './projects/cli.ts';
import { registerScheduleCommands } from './schedules/cli.ts';
import { registerDomainCommands } from './sending-domains/cli.ts';
import { registerTemplateCommands } from './templates/cli.ts';
import { registerTokenCommands } from './tokens/cli.ts';
import { registerVaultCommands } from './vault/cli.ts';

export function registerVerbs(cli: Cli<Services>, doctor: DoctorDeps): void {
  registerTokenCommands(cli);
  registerProjectCommands(cli);
  registerOriginCommands(cli, registerKeyCommands(cli));
  registerObjectCommands(cli);
  registerAuditCommands(cli);
  registerVaultCommands(cli);
  registerDomainCommands(cli);
  registerMailboxCommands(cli);
  registerEmailLogCommand(cli, registerEmailCommands(cli));
  registerTemplateCommands(cli);
  registerScheduleCommands(cli);
  registerJobCommands(cli);
  registerBackupCommands(cli, doctor.clock);
  registerMasterKeyCommand(cli, doctor.clock);
  registerDoctorCommand(cli, doctor);
  registerMigrateCommand(cli, doctor.clock);
  registerCompletionCommand(cli);
}
