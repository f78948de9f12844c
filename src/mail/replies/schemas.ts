/** Shapes of what was answered to a mail. */
import { dateTime, named, type Static, t, ulid } from '../../platform/http/schema.ts';

export const replyRecord = named(
  'EmailReply',
  t.Object({
    email: ulid(),
    from: t.String({ description: 'The address in its From: whoever wrote it may have put any there.' }),
    subject: t.String(),
    text: t.String({ description: 'Without what it quotes, and cut at 64 KB.' }),
    received_at: dateTime(),
  }),
);
export type ReplyRecord = Static<typeof replyRecord>;
