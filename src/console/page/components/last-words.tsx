/** What a mail server said last that refuses the mail of a sequence or broadcast. */
export function LastWords({ of }: { of: { pause_words: string | null } }) {
  if (of.pause_words === null) return <>Read what the servers say in the mails that failed.</>;
  return (
    <>
      The last one said: <q class="said">{of.pause_words}</q>
    </>
  );
}
