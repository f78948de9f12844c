/** The thread that sends what webhooks are told: handshakes and strangers' answers cost requests nothing. */
import { type Answer, exchange, type Outgoing } from './exchange.ts';

declare const self: Worker;

export interface SenderRequest extends Outgoing {
  id: number;
}
export interface SenderReply {
  id: number;
  answer: Answer;
}

const outbox: SenderReply[] = [];

self.onmessage = ({ data }: MessageEvent<SenderRequest[]>) => {
  for (const { id, ...outgoing } of data)
    void exchange(outgoing)
      .catch((): Answer => ({ failure: 'the connection failed', is_unreached: true, is_ours: false }))
      .then((answer) => {
        // Answers of one turn of the event loop travel together.
        if (outbox.push({ id, answer }) > 1) return;
        setImmediate(() => self.postMessage(outbox.splice(0)));
      });
};
