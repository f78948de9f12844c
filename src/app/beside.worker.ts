/** The thread of platform/host/beside.ts: all that is done beside the server. */

import { MAKE_BODIES } from '../mail/templates/markdown.ts';
import { PREVIEW } from '../mail/templates/rendering.ts';
import { READ_PASTE } from '../marketing/imports/paste.ts';
import {
  COMPOSE,
  FILL_PAGE,
  LACKS_OF_NOBODY,
  LAY_OUT,
  OUTLOOK,
  SHOW,
  SHOW_DRAFT,
} from '../marketing/mails/drafts.ts';
import { serveTasks } from '../platform/host/beside.ts';

serveTasks([
  MAKE_BODIES,
  PREVIEW,
  COMPOSE,
  LAY_OUT,
  SHOW,
  SHOW_DRAFT,
  OUTLOOK,
  LACKS_OF_NOBODY,
  FILL_PAGE,
  READ_PASTE,
]);
