/** The thread that sends what webhooks are told: handshakes and strangers' answers cost requests nothing. */
import { serve } from '../platform/host/threads.ts';
import { type Answer, exchange, type Outgoing } from './exchange.ts';

const FAILED: Answer = { failure: 'the connection failed', is_unreached: true, is_ours: false };

serve((outgoing: Outgoing) => exchange(outgoing).catch(() => FAILED));
