/** The thread of platform/host/beside.ts: all that is done beside the server. */

import { MAKE_BODIES } from '../mail/templates/markdown.ts';
import { PREVIEW } from '../mail/templates/rendering.ts';
import { READ_PASTE } from '../marketing/imports/paste.ts';
import { MAIL_TASKS } from '../marketing/mails/drafts.ts';
import { serveTasks } from '../platform/host/beside.ts';

serveTasks([MAKE_BODIES, PREVIEW, ...MAIL_TASKS, READ_PASTE]);
