/** The verbs of every noun, in the order in which help lists them. `serve` and `version` are the executable's own. */

import { registerAuditCommands } from '../access/audit/cli.ts';
import { registerKeyCommands } from '../access/keys/cli.ts';
import { registerOriginCommands } from '../access/origins/cli.ts';
import { registerPersonCommands } from '../access/people/cli.ts';
import { registerProjectCommands } from '../access/projects/cli.ts';
import { registerTokenCommands } from '../access/tokens/cli.ts';
import { registerObjectCommands } from '../files/objects/cli.ts';
import { registerEmailCommands } from '../mail/deliveries/cli.ts';
import { registerEmailLogCommand } from '../mail/emails/cli.ts';
import { registerMailboxCommands } from '../mail/mailboxes/cli.ts';
import { registerScheduleCommands } from '../mail/schedules/cli.ts';
import { registerDomainCommands } from '../mail/sending-domains/cli.ts';
import { registerTemplateCommands } from '../mail/templates/cli.ts';
import { registerBroadcastCommands } from '../marketing/broadcasts/cli.ts';
import { registerContactCommands } from '../marketing/contacts/cli.ts';
import { registerImportCommands } from '../marketing/imports/cli.ts';
import { registerListCommands } from '../marketing/lists/cli.ts';
import { registerSequenceCommands } from '../marketing/sequences/cli.ts';
import { registerSuppressionCommands } from '../marketing/suppressions/cli.ts';
import { registerBackupCommands } from '../operation/backups/cli.ts';
import { registerDoctorCommand } from '../operation/doctor/cli.ts';
import type { DoctorDeps } from '../operation/doctor/service.ts';
import { registerJobCommands } from '../operation/jobs/cli.ts';
import { registerActivityCommand } from '../operation/overview/cli.ts';
import type { Cli } from '../platform/cli/cli.ts';
import { registerCompletionCommand } from '../platform/cli/completion.ts';
import { registerMasterKeyCommand, registerMigrateCommand } from '../platform/cli/platform-verbs.ts';
import { registerVaultCommands } from '../secrets/vault/cli.ts';
import type { Services } from './app.ts';

export function registerVerbs(cli: Cli<Services>, doctor: DoctorDeps): void {
  registerTokenCommands(cli);
  registerPersonCommands(cli);
  registerActivityCommand(registerProjectCommands(cli));
  registerOriginCommands(cli, registerKeyCommands(cli));
  registerObjectCommands(cli);
  registerAuditCommands(cli);
  registerVaultCommands(cli);
  registerDomainCommands(cli);
  registerMailboxCommands(cli);
  registerEmailLogCommand(registerEmailCommands(cli));
  registerTemplateCommands(cli);
  registerScheduleCommands(cli);
  registerJobCommands(cli);
  registerListCommands(cli);
  registerContactCommands(cli);
  registerImportCommands(cli);
  registerSuppressionCommands(cli);
  registerSequenceCommands(cli);
  registerBroadcastCommands(cli);
  registerBackupCommands(cli, doctor.clock);
  registerMasterKeyCommand(cli, doctor.clock);
  registerDoctorCommand(cli, doctor);
  registerMigrateCommand(cli, doctor.clock);
  registerCompletionCommand(cli);
}
