import { PACKET_DATA_SIZE, PublicKey, V1_TRANSACTION_SIZE_LIMIT } from '@solana/web3.js'
import bs58 from 'bs58'
import { encodeInner, encodeReturnData } from '../encoding/transaction.ts'
import { BLOCKHASH_WINDOW } from '../state/blockhashes.ts'
import type { Chain, Simulation } from '../state/chain.ts'
import { innerInstructions, loadedAddresses, returnData } from '../state/execution.ts'
import { airdrop } from '../state/faucet.ts'
import { allKeys, type DecodedTransaction, decodeTransaction, isFullySigned, signatureOf } from '../state/message.ts'
import { blockHeight } from '../state/slot-clock.ts'
import { errorSentence, type TransactionError } from '../state/transaction-error.ts'
import { accountFormat, present } from './account-methods.ts'
import { commitmentOf } from './commitment.ts'
import type { Methods } from './methods.ts'
import { address, addressAt, integerAt, isOptions, listAt, type Options, oneOf, optionsAt, textAt } from './params.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

const MAX_SIMULATED_ACCOUNTS = 100

/** What changes the chain, and what only tries to. */
export const sendingMethods: Methods = {
  /**
   * Runs the transaction at once and answers its signature. With preflight a failing one is refused and leaves no
   * trace; without, it lands with its error, or vanishes when it could never have landed, and the caller is not told.
   */
  sendTransaction: ({ chain }, params) => {
    const options = optionsAt(params, 1)
    const transaction = transactionAt(textAt(params, 0), options)
    if (options.skipPreflight !== true) preflight(chain, transaction)
    else if (!isFullySigned(transaction)) return signatureOf(transaction)
    chain.submit(transaction)
    return signatureOf(transaction)
  },

  simulateTransaction: ({ chain, view }, params) => {
    const options = optionsAt(params, 1)
    const transaction = transactionAt(textAt(params, 0), options)
    const verifySignatures = options.sigVerify === true
    const anyBlockhash = options.replaceRecentBlockhash === true
    if (verifySignatures && anyBlockhash) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    if (verifySignatures && !isFullySigned(transaction)) throw signatureFailure()
    return {
      context: view.context(commitmentOf(options, view)),
      value: {
        ...simulationResult(
          chain,
          transaction,
          chain.simulate(transaction, { verifySignatures, anyBlockhash }),
          options,
        ),
        ...(anyBlockhash && { replacementBlockhash: currentBlockhash(chain) }),
      },
    }
  },

  requestAirdrop: ({ chain }, params) => airdrop(chain, new PublicKey(addressAt(params, 0)), integerAt(params, 1)),
}

/** Runs the transaction without effects and throws what a node answers when it would fail. */
function preflight(chain: Chain, transaction: DecodedTransaction): void {
  if (!isFullySigned(transaction)) throw signatureFailure()
  const simulation = chain.simulate(transaction, { verifySignatures: true })
  const err = 'refused' in simulation ? simulation.refused : simulation.err
  if (err === null) return
  if (err === 'SignatureFailure') throw signatureFailure()
  throw new RpcError(
    RPC_CODES.preflightFailure,
    `Transaction simulation failed: ${errorSentence(err)}`,
    simulationResult(chain, transaction, simulation, {}),
  )
}

function simulationResult(
  chain: Chain,
  transaction: DecodedTransaction,
  simulation: Simulation | { refused: TransactionError },
  options: Options,
) {
  if ('refused' in simulation) {
    return {
      err: simulation.refused,
      logs: [],
      accounts: null,
      unitsConsumed: 0,
      returnData: null,
      innerInstructions: null,
    }
  }
  const { err, meta } = simulation
  const returned = returnData(meta)
  const keys = allKeys(transaction.message, loadedAddresses(chain.bank, transaction))
  return {
    err,
    logs: meta.logs(),
    accounts: simulatedAccounts(chain, simulation, options),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    returnData: returned && encodeReturnData(returned),
    innerInstructions: options.innerInstructions === true ? encodeInner(innerInstructions(meta), keys) : null,
  }
}

/** The accounts that the caller asked to see as they would be afterwards; nulls when the transaction fails. */
function simulatedAccounts(chain: Chain, simulation: Simulation, options: Options) {
  if (!isOptions(options.accounts)) return null
  const format = accountFormat({ encoding: 'base64', ...options.accounts })
  return listAt([options.accounts.addresses], 0, MAX_SIMULATED_ACCOUNTS).map(value => {
    const wanted = address(value)
    const account = simulation.accounts.find(after => after.address === wanted) ?? chain.bank.account(wanted)
    return simulation.err !== null || account === null ? null : present(chain, account, format)
  })
}

function currentBlockhash(chain: Chain) {
  const slot = chain.clock.slot()
  return { blockhash: chain.blockhashes.at(slot), lastValidBlockHeight: blockHeight(slot) + BLOCKHASH_WINDOW }
}

function transactionAt(text: string, options: Options): DecodedTransaction {
  const encoding = oneOf(options.encoding, ['base58', 'base64'], 'base58')
  let transaction: DecodedTransaction
  try {
    transaction = decodeTransaction(encoding === 'base64' ? Buffer.from(text, 'base64') : bs58.decode(text))
  } catch {
    throw invalidParams(`failed to deserialize the transaction from ${encoding}`)
  }
  const maxBytes = transaction.message.version === 1 ? V1_TRANSACTION_SIZE_LIMIT : PACKET_DATA_SIZE
  if (transaction.wire.length > maxBytes) {
    throw invalidParams(`transaction too large: ${transaction.wire.length} bytes (max: ${maxBytes} bytes)`)
  }
  return transaction
}

function signatureFailure(): RpcError {
  return new RpcError(RPC_CODES.signatureVerification, 'Transaction signature verification failure')
}
