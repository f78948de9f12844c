/** The thread of markdown-making.ts: makes one text after another. */
import { serve } from '../../platform/host/threads.ts';
import { bodiesOf } from './markdown.ts';
import type { MarkdownPiece } from './markdown-making.ts';

serve(({ markdown, max_bytes }: MarkdownPiece) => bodiesOf(markdown, max_bytes));
