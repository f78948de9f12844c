/** The thread of `Sender`: handshakes and strangers' answers cost requests nothing. */
import { serve } from '../host/threads.ts';
import { type Answer, exchange, type Outgoing } from './exchange.ts';

const FAILED: Answer = { failure: 'the connection failed', is_unreached: true, is_ours: false };

serve((outgoing: Outgoing) => exchange(outgoing).catch(() => FAILED));
