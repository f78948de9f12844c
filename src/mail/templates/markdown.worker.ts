/** The thread of markdown-making.ts: makes one text after another. */
import { messageOf } from '../../errors.ts';
import type { ThreadReply } from '../../platform/host/bounded-thread.ts';
import { bodiesOf, type MarkdownBodies } from './markdown.ts';
import type { MarkdownPiece } from './markdown-making.ts';

declare const self: Worker;

self.onmessage = ({ data: { markdown, max_bytes } }: MessageEvent<MarkdownPiece>) => {
  self.postMessage(make(markdown, max_bytes));
};

function make(markdown: string, max_bytes: number): ThreadReply<MarkdownBodies> {
  try {
    return { result: bodiesOf(markdown, max_bytes) };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}
