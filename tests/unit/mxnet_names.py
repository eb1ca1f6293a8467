"""The public names of MXNet 1.9.1, module by module.

Recorded with

    import mxnet as mx
    for module in (mx.autograd, mx.recordio, ...):
        print([n for n in vars(module) if not n.startswith("_") and not isinstance(vars(module)[n], ModuleType)])

Of the package itself, its ``contrib`` and ``test_utils`` the modules are names too; of ``base``, ``sym.contrib``,
``nd.utils``, ``ndarray.ndarray`` and ``optimizer.optimizer`` those are listed that old scripts were seen to use.
"""

NAMES: dict[str, str] = {
    "NDArray": """
        T abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort
        as_in_context as_nd_ndarray as_np_ndarray asnumpy asscalar astype attach_grad backward
        broadcast_axes broadcast_like broadcast_to cbrt ceil clip context copy copyto cosh ctx degrees
        depth_to_space detach diag dtype exp expand_dims expm1 fix flatten flip floor grad handle log log10
        log1p log2 log_softmax max mean min nanprod nansum ndim norm one_hot ones_like pad pick prod radians
        rcbrt reciprocal relu repeat reshape reshape_like rint round rsqrt shape shape_array sigmoid sign
        sin sinh size size_array slice slice_assign slice_assign_scalar slice_axis slice_like softmax
        softmin sort space_to_depth split split_v2 square squeeze stype sum swapaxes take tan tanh tile
        to_dlpack_for_read to_dlpack_for_write topk tostype transpose trunc wait_to_read writable zeros_like
    """,
    "Symbol": """
        abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort as_in_context
        as_nd_ndarray as_np_ndarray asnumpy asscalar astype attr attr_dict backward bind broadcast_axes
        broadcast_like broadcast_to cbrt ceil clip copy cosh debug_str degrees depth_to_space detach diag
        eval exp expand_dims expm1 fix flatten flip floor get_backend_symbol get_children get_internals
        gradient handle infer_shape infer_shape_partial infer_type infer_type_partial list_arguments
        list_attr list_auxiliary_states list_inputs list_outputs log log10 log1p log2 log_softmax max mean
        min name nanprod nansum norm one_hot ones_like optimize_for pad pick prod radians rcbrt reciprocal
        relu repeat reshape reshape_like rint round rsqrt save shape_array sigmoid sign simple_bind sin sinh
        size_array slice slice_axis slice_like softmax softmin sort space_to_depth split split_v2 square
        squeeze sum swapaxes take tan tanh tile tojson topk transpose trunc wait_to_read zeros_like
    """,
    "autograd": """
        Function NDArray Symbol array backward get_symbol grad is_recording is_training mark_variables pause
        predict_mode record set_recording set_training train_mode
    """,
    "recordio": """
        IRHeader MXIndexedRecordIO MXRecordIO cv2 pack pack_img unpack unpack_img
    """,
    "viz": """
        Symbol plot_network print_summary
    """,
    "random": """
        Context exponential gamma generalized_negative_binomial multinomial negative_binomial normal poisson
        randint randn seed shuffle uniform
    """,
    "nd.random": """
        uniform normal randn poisson exponential gamma multinomial negative_binomial
        generalized_negative_binomial shuffle randint exponential_like gamma_like
        generalized_negative_binomial_like negative_binomial_like normal_like poisson_like uniform_like
    """,
    "nd.sparse": """
        csr_matrix row_sparse_array BaseSparseNDArray CSRNDArray RowSparseNDArray add subtract multiply
        divide ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
        MAERegressionOutput abs adagrad_update adam_update add_n arccos arccosh arcsin arcsinh arctan
        arctanh broadcast_add broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub
        cast_storage cbrt ceil clip concat cosh degrees dot elemwise_add elemwise_div elemwise_mul
        elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 make_loss mean
        negative norm radians relu retain rint round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh
        slice square stop_gradient sum tan tanh trunc where zeros_like
    """,
    "sym.random": """
        uniform normal randn poisson exponential gamma multinomial negative_binomial
        generalized_negative_binomial shuffle randint exponential_like gamma_like
        generalized_negative_binomial_like negative_binomial_like normal_like poisson_like uniform_like
    """,
    "operator": """
        CustomOp CustomOpProp NDArray NDArrayOp NumpyOp OperatorArguments PythonOp array
        get_all_registered_operators get_operator_arguments is_np_array register
    """,
    "registry": """
        get_alias_func get_create_func get_register_func get_registry
    """,
    "util": """
        get_cuda_compute_capability get_gpu_count get_gpu_memory getenv is_np_array is_np_shape np_array
        np_shape np_ufunc_legal_option reset_np set_module set_np set_np_shape setenv use_np use_np_array
        use_np_shape wrap_np_binary_func wrap_np_unary_func
    """,
    "runtime": """
        Feature Features feature_list
    """,
    "engine": """
        bulk set_bulk_size
    """,
    "profiler": """
        Counter Domain Event Frame KVStoreHandle Marker ProfileHandle Task dump dump_profile dumps pause
        profiler_kvstore_handle profiler_set_config profiler_set_state resume set_config set_kvstore_handle
        set_state
    """,
    "test_utils": """
        Context DummyIter Features Symbol almost_equal array assert_allclose assert_almost_equal
        assert_almost_equal_ignore_nan assert_almost_equal_with_err assert_exception assign_each
        assign_each2 checkShapes check_consistency check_gluon_hybridize_consistency check_numeric_gradient
        check_speed check_symbolic_backward check_symbolic_forward chi_square_check collapse_sum_like
        compare_ndarray_tuple compare_optimizer create_2d_tensor create_sparse_array create_sparse_array_zd
        create_vector current_context default_atols default_context default_dtype default_numeric_eps
        default_rtols discard_stderr download download_model effective_dtype environment
        gen_buckets_probs_with_ppf get_atol get_bz2_data get_cifar10 get_cuda_compute_capability get_etol
        get_identity_mat get_identity_mat_batch get_im2rec_path get_mnist get_mnist_iterator get_mnist_pkl
        get_mnist_ubyte get_rtol get_tolerance get_tols get_zip_data getenv has_tvm_ops is_aarch64_run
        is_cd_run is_op_runnable list_gpus locationError mean_check new_matrix_with_real_eigvals_2d
        new_matrix_with_real_eigvals_nd new_orthonormal_matrix_2d new_sym_matrix_with_real_eigvals_2d
        new_sym_matrix_with_real_eigvals_nd np_reduce np_symbol numeric_grad rand_coord_2d rand_ndarray
        rand_shape_2d rand_shape_3d rand_shape_nd rand_sparse_ndarray random_arrays random_sample
        random_uniform_arrays retry same same_array same_symbol_structure set_default_context setenv
        shuffle_csr_column_indices simple_forward use_np var_check verify_generator
        OrderedDict bz2 contextmanager errno gzip json logging mx np npt numbers os platform requests rnd ss struct
        sys time traceback zipfile
    """,
    "base": """
        MXNetError NDArrayHandle data_dir data_dir_default py_str
    """,
    "name": """
        NameManager Prefix
    """,
    "attribute": """
        AttrScope
    """,
    "monitor": """
        Monitor NDArray
    """,
    "error": """
        MXNetError register
    """,
    "executor": """
        Executor NDArray
    """,
    "context": """
        Context cpu cpu_pinned current_context gpu gpu_memory_info num_gpus
    """,
    "RowSparseNDArray": """
        check_format data indices retain
    """,
    "CSRNDArray": """
        asscipy check_format data indices indptr
    """,
    "rnn": """
        BaseConvRNNCell BaseRNNCell BidirectionalCell BucketSentenceIter ConvGRUCell ConvLSTMCell
        ConvRNNCell DataBatch DataDesc DataIter DropoutCell FusedRNNCell GRUCell LSTMCell ModifierCell
        RNNCell RNNParams ResidualCell SequentialRNNCell ZoneoutCell do_rnn_checkpoint encode_sentences
        load_checkpoint load_rnn_checkpoint rnn_unroll save_checkpoint save_rnn_checkpoint
    """,
    "init": """
        Bilinear Constant FusedRNN InitDesc Initializer LSTMBias Load MSRAPrelu Mixed NDArray Normal One
        Orthogonal Uniform Xavier Zero alias create is_np_array load register
    """,
    "metric": """
        Accuracy Caffe CompositeEvalMetric CrossEntropy CustomMetric EvalMetric F1 Loss MAE MCC MSE
        NegativeLogLikelihood PCC PearsonCorrelation Perplexity RMSE TopKAccuracy Torch alias
        check_label_shapes create np register
    """,
    "lr_scheduler": """
        CosineScheduler FactorScheduler LRScheduler MultiFactorScheduler PolyScheduler
    """,
    "callback": """
        LogValidationMetricsCallback ProgressBar Speedometer do_checkpoint log_train_metric
        module_checkpoint save_checkpoint
    """,
    "mx": """
        libinfo base context Context current_context cpu gpu cpu_pinned engine error MXNetError util
        is_np_shape set_np_shape np_shape use_np_shape is_np_array np_array use_np_array use_np runtime random
        ndarray_doc ndarray registry attribute name io executor_manager executor symbol_doc symbol autograd
        numpy recordio image numpy_extension metric optimizer profiler kvstore initializer callback model
        module onnx contrib nd np npx sym np_symbol operator rnd notebook init visualization viz lr_scheduler
        rtc AttrScope monitor mon torch th log mod img test_utils rnn gluon kv library tvmop
        numpy_op_signature numpy_dispatch_protocol numpy_op_fallback api
    """,
    "contrib": """
        symbol ndarray sym nd autograd tensorboard text onnx io quantization quant amp
    """,
    "contrib.ndarray": """
        AdaptiveAvgPooling2D BatchNormWithReLU BilinearResize2D CTCLoss DeformableConvolution
        DeformablePSROIPooling ModulatedDeformableConvolution MultiBoxDetection MultiBoxPrior MultiBoxTarget
        MultiProposal PSROIPooling Proposal ROIAlign RROIAlign SparseEmbedding SyncBatchNorm allclose
        arange_like backward_gradientmultiplier backward_hawkesll backward_index_copy backward_quadratic
        bipartite_matching boolean_mask box_decode box_encode box_iou box_nms box_non_maximum_suppression
        calibrate_entropy count_sketch ctc_loss dequantize dgl_adjacency dgl_csr_neighbor_non_uniform_sample
        dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph div_sqrt_dim edge_id fft getnnz
        gradientmultiplier group_adagrad_update hawkesll ifft index_array index_copy
        interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk
        interleaved_matmul_selfatt_valatt quadratic quantize quantize_asym quantize_v2 quantized_act
        quantized_batch_norm quantized_concat quantized_conv quantized_elemwise_add quantized_elemwise_mul
        quantized_embedding quantized_flatten quantized_fully_connected quantized_pooling quantized_rnn
        requantize round_ste sign_ste
    """,
    "contrib.symbol": """
        AdaptiveAvgPooling2D BatchNormWithReLU BilinearResize2D CTCLoss DeformableConvolution
        DeformablePSROIPooling ModulatedDeformableConvolution MultiBoxDetection MultiBoxPrior MultiBoxTarget
        MultiProposal PSROIPooling Proposal ROIAlign RROIAlign SparseEmbedding SyncBatchNorm allclose
        arange_like backward_gradientmultiplier backward_hawkesll backward_index_copy backward_quadratic
        bipartite_matching boolean_mask box_decode box_encode box_iou box_nms box_non_maximum_suppression
        calibrate_entropy count_sketch ctc_loss dequantize dgl_adjacency dgl_csr_neighbor_non_uniform_sample
        dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph div_sqrt_dim edge_id fft getnnz
        gradientmultiplier group_adagrad_update hawkesll ifft index_array index_copy
        interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk
        interleaved_matmul_selfatt_valatt quadratic quantize quantize_asym quantize_v2 quantized_act
        quantized_batch_norm quantized_concat quantized_conv quantized_elemwise_add quantized_elemwise_mul
        quantized_embedding quantized_flatten quantized_fully_connected quantized_pooling quantized_rnn
        requantize round_ste sign_ste
    """,
    "contrib.nd": """
        AdaptiveAvgPooling2D BatchNormWithReLU BilinearResize2D CTCLoss DeformableConvolution
        DeformablePSROIPooling ModulatedDeformableConvolution MultiBoxDetection MultiBoxPrior MultiBoxTarget
        MultiProposal PSROIPooling Proposal ROIAlign RROIAlign SparseEmbedding SyncBatchNorm allclose
        arange_like backward_gradientmultiplier backward_hawkesll backward_index_copy backward_quadratic
        bipartite_matching boolean_mask box_decode box_encode box_iou box_nms box_non_maximum_suppression
        calibrate_entropy count_sketch ctc_loss dequantize dgl_adjacency dgl_csr_neighbor_non_uniform_sample
        dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph div_sqrt_dim edge_id fft getnnz
        gradientmultiplier group_adagrad_update hawkesll ifft index_array index_copy
        interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk
        interleaved_matmul_selfatt_valatt quadratic quantize quantize_asym quantize_v2 quantized_act
        quantized_batch_norm quantized_concat quantized_conv quantized_elemwise_add quantized_elemwise_mul
        quantized_embedding quantized_flatten quantized_fully_connected quantized_pooling quantized_rnn
        requantize round_ste sign_ste
    """,
    "contrib.sym": """
        AdaptiveAvgPooling2D BatchNormWithReLU BilinearResize2D CTCLoss DeformableConvolution
        DeformablePSROIPooling ModulatedDeformableConvolution MultiBoxDetection MultiBoxPrior MultiBoxTarget
        MultiProposal PSROIPooling Proposal ROIAlign RROIAlign SparseEmbedding SyncBatchNorm allclose
        arange_like backward_gradientmultiplier backward_hawkesll backward_index_copy backward_quadratic
        bipartite_matching boolean_mask box_decode box_encode box_iou box_nms box_non_maximum_suppression
        calibrate_entropy count_sketch ctc_loss dequantize dgl_adjacency dgl_csr_neighbor_non_uniform_sample
        dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph div_sqrt_dim edge_id fft getnnz
        gradientmultiplier group_adagrad_update hawkesll ifft index_array index_copy
        interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk
        interleaved_matmul_selfatt_valatt quadratic quantize quantize_asym quantize_v2 quantized_act
        quantized_batch_norm quantized_concat quantized_conv quantized_elemwise_add quantized_elemwise_mul
        quantized_embedding quantized_flatten quantized_fully_connected quantized_pooling quantized_rnn
        requantize round_ste sign_ste
    """,
    "contrib.amp": """
        lists loss_scaler amp init init_trainer scale_loss unscale convert_model convert_hybrid_block
        list_lp16_ops list_fp32_ops list_lp16_fp32_ops list_conditional_fp32_ops list_widest_type_cast
        list_loss_output_functions list_lp16_use_fp32_params convert_symbol
    """,
    "sym.contrib": """
        adamw_update mp_adamw_update
    """,
    "nd.utils": """
        array empty load load_frombuffer save zeros
    """,
    "ndarray.ndarray": """
        py_slice
    """,
    "optimizer.optimizer": """
        AdaDelta AdaGrad Adam Adamax DCASGD FTML Ftrl LAMB LARS LBSGD NAG NDabs Nadam Optimizer RMSProp SGD
        SGLD Signum Test Updater ccSGD create get_updater register
    """,
    "log": """
        CRITICAL DEBUG ERROR INFO NOTSET WARNING getLogger get_logger
    """,
    "libinfo": """
        find_conf_path find_include_path find_lib_path
    """,
    "misc": """
        FactorScheduler LearningRateScheduler
    """,
}
