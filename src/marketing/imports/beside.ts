/** What of imports is done beside the server: whoever pastes decides how much it is. */
import type { Task } from '../../platform/host/beside.ts';
import { type Paste, readPaste } from './paste.ts';

export const READ_PASTE: Task<string, Paste> = { name: 'import: read a paste', run: readPaste };
