/** The thread that speaks SMTP: reading what clients send holds up no request. Started by listener.ts alone. */
import { messageOf } from '../../errors.ts';
import type { Answer, FromThread, Question, ToThread } from './protocol.ts';
import { SubmissionServer } from './server.ts';

declare const self: Worker;

/** How often what is counted is told. */
const MEASURES_EVERY_MS = 1_000;

const questions = new Map<number, (answer: Answer) => void>();
let next_id = 1;
let server: SubmissionServer | null = null;
let told = '';

const tell = (word: FromThread): void => self.postMessage(word);

function ask(question: Question): Promise<Answer> {
  const id = next_id++;
  return new Promise((resolve) => {
    questions.set(id, resolve);
    tell({ op: 'ask', id, question });
  });
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.op === 'answer') {
    questions.get(data.id)?.(data.answer);
    questions.delete(data.id);
  } else if (data.op === 'start') {
    server = new SubmissionServer(data.settings, ask);
    server.start().then(
      (ports) => tell({ op: 'started', ...ports }),
      (error: unknown) => tell({ op: 'failed', message: messageOf(error) }),
    );
    setInterval(tellMeasures, MEASURES_EVERY_MS);
  } else if (data.op === 'pair') {
    server?.use(data.pair).catch((error: unknown) => tell({ op: 'failed', message: messageOf(error) }));
  } else {
    void server?.stop(data.deadline_ms).then(() => tell({ op: 'stopped' }));
  }
};

function tellMeasures(): void {
  if (!server) return;
  const now = JSON.stringify(server.measures);
  if (now === told) return;
  told = now;
  tell({ op: 'measures', measures: { ...server.measures } });
}
